#!/usr/bin/python3
"""What the reader of .tflite says of files that it does not take, one row for each reason.

test-tflite-refused.py READ-TFLITE. A row is what is wrong, the file, and what the line says: "*" stands for anything. Prints TAP; without numpy it is
skipped. Lengths alone are no reason.

SPDX-License-Identifier: Apache-2.0
"""
import fnmatch
import struct
import subprocess
import sys

from numpy_or_skip import np
from newer_cases import detection
from recurrent_cases import Cell, integer_lstm8
from tfl import flex_map, models, model, op, tensor

F, I8, I16, I32, B = np.float32, np.int8, np.int16, np.int32, np.bool_
RESOURCE, VARIANT, STRING = 13, 14, 5
ADD = ("AddOptions", {})


def sum_with(name="w", shape=(2, 4), dtype=F, **fields):
    """y = x + w"""
    rows = [tensor("x", F, (2, 4)), tensor(name, dtype, shape, **fields), tensor("y", F, (2, 4))]
    return model(rows, [op("ADD", [0, 1], [2], ADD)], [0], [2])


def tensors():
    codes = np.zeros((2, 4), I8)
    scaled = lambda **q: sum_with(dtype=I8, data=codes, quantization=q)
    of_w = 'subgraph 0: tensor 1 ("w"): '
    yield "rank", sum_with(shape=[1] * 33, data=codes), of_w + "unsupported rank 33"
    yield "negative length", sum_with(shape=(2, -4)), of_w + "dimension 1 is -4"
    yield "size", sum_with(shape=[2 ** 30] * 4), of_w + "its shape has too many elements"
    yield "no zero points", sum_with(dtype=np.uint8, data=codes.astype(np.uint8), quantization={"scale": [1.0]}), of_w + "1 scales and 0 zero points"
    yield "more zero points", scaled(scale=[1.0], zero_point=[0, 0]), of_w + "1 scales and 2 zero points"
    for what, axis in (("axis", 2), ("axis below 0", -1), ("length of the axis", 1)):
        yield what, scaled(scale=[1.0, 1.0], zero_point=[0, 0], quantized_dimension=axis), of_w + "2 scales along axis %d" % axis
    for what, value, said in (("negative scale", -0.5, "-0.5"), ("NaN scale", float("nan"), "*nan"), ("infinite scale", float("inf"), "inf")):
        yield what, scaled(scale=[value], zero_point=[0]), of_w + "a scale is " + said
    for zero in (128, -129, 2 ** 40):
        yield "zero point %d" % zero, scaled(scale=[1.0], zero_point=[zero]), of_w + "zero point %d is no i8" % zero
    yield "several axes", scaled(details=("MultiAxisQuantization", {"scales": 0})), '*(ADD, "y"): tensor 1 ("w"): unsupported: quantization along several axes'
    yield "complex constant", sum_with(dtype=8, data=np.zeros(16, F)), '*'
    yield "short constant", sum_with(data=np.zeros(7, F)), '*(ADD, "y"): tensor 1 ("w"): it has 28 bytes of data, which is not what its shape needs'
    yield "never written", sum_with(), '*(ADD, "y"): tensor 1 ("w"): it is read, but nothing writes it'


def blocks():
    for what, more, said in (("length", {"block_size": 3}, "blocks of 3 with scales in tensor 0"), ("length 0", {"block_size": 0}, "blocks of 0 with scales in tensor 0"),
                             ("scales", {"scales": 9}, "blocks of 4 with scales in tensor 9"), ("scales below 0", {"scales": -1}, "blocks of 4 with scales in tensor -1"),
                             ("zero points", {"zero_points": 9}, "blocks of 4 with scales in tensor 0"), ("zero points below -1", {"zero_points": -2}, "blocks of 4 with scales in tensor 0"),
                             ("scales that nothing writes", {"scales": 2}, 'tensor 2 ("y"): it is read, but nothing writes it'),
                             ("zero points that nothing writes", {"zero_points": 2}, 'tensor 2 ("y"): it is read, but nothing writes it')):
        details = ("BlockwiseQuantization", {"scales": 0, "zero_points": -1, "block_size": 4, **more})
        yield "blocks: " + what, sum_with(dtype=I8, data=np.zeros((2, 4), I8), quantization={"details": details}), '*(ADD, "y"): *' + said
    details = ("BlockwiseQuantization", {"scales": 0, "zero_points": -1, "block_size": 4})
    yield "blocks: rank 0", sum_with(dtype=I8, shape=(), data=np.zeros((), I8), quantization={"details": details}), '*tensor 1 ("w"): blocks of 4 with scales in tensor 0'


def sparse():
    """[2, 4] in rows: 5 at (0, 1), 6 at (1, 0), 7 at (1, 3); each row of the table breaks one thing."""
    dense, lists = {"format": 0, "dense_size": 2}, lambda segments, indices: {
        "format": 1, "array_segments": ("Int32Vector", {"values": segments}), "array_indices": ("Int32Vector", {"values": indices})}
    good = {"traversal_order": [0, 1], "dim_metadata": [dense, lists([0, 1, 3], [1, 0, 3])]}
    block = {"traversal_order": [0, 1, 2], "block_map": [1], "dim_metadata": [dense, dense, {"format": 0, "dense_size": 2}]}
    with_lists = lambda segments, indices: {"dim_metadata": [dense, lists(segments, indices)]}
    for what, change, said in (
            ("order", {"traversal_order": [0]}, "the numbers of levels differ"), ("levels", {"dim_metadata": [dense]}, "the numbers of levels differ"),
            ("blocks of more axes", {"block_map": [0, 1, 1]}, "the numbers of levels differ"),
            ("a level twice", {"traversal_order": [0, 0]}, "the order of its levels"), ("no such level", {"traversal_order": [0, 2]}, "the order of its levels"),
            ("a level below 0", {"traversal_order": [0, -1]}, "the order of its levels"), ("a block in front", dict(block, traversal_order=[0, 2, 1]), "the order of its levels"),
            ("block of no axis", dict(block, block_map=[2]), "its blocks"), ("block of axis -1", dict(block, block_map=[-1]), "its blocks"),
            ("block of 3", dict(block, dim_metadata=[dense, dense, {"format": 0, "dense_size": 3}]), "the size of a block"),
            ("block of 0", dict(block, dim_metadata=[dense, dense, {"format": 0, "dense_size": 0}]), "the size of a block"),
            ("an axis in two blocks", {"traversal_order": [0, 1, 2, 3], "block_map": [1, 1], "dim_metadata": [dense, dense, dense, dense]}, "the size of a block"),
            ("first segment", with_lists([1, 1, 3], [1, 0, 3]), "the ends of its segments"), ("last segment", with_lists([0, 1, 2], [1, 0, 3]), "the ends of its segments"),
            ("number of segments", with_lists([0, 3], [1, 0, 3]), "the ends of its segments"), ("no vectors", {"dim_metadata": [dense, {"format": 1}]}, "the ends of its segments"),
            ("falling segments", {"traversal_order": [1, 0], "dim_metadata": [dense, lists([0, 2, 1, 3, 3], [1, 0, 1])]}, "the order of its segments"),
            ("index", with_lists([0, 1, 3], [1, 0, 4]), "an index"), ("index below 0", with_lists([0, 1, 3], [1, -1, 3]), "an index"),
            ("values", with_lists([0, 1, 2], [1, 0]), "the number of its values")):
        table = {**good, **change}
        yield "sparse: " + what, sum_with(data=np.array([5, 6, 7], F), sparsity=table), '*(ADD, "y"): tensor 1 ("w"): its sparsity is broken: ' + said
    wide = {"traversal_order": [0, 1], "dim_metadata": [dense, dense]}
    yield "sparse: elements", sum_with(shape=(2 ** 20, 2 ** 20), data=np.zeros(1, F), sparsity=wide), '*its sparsity is broken: too many elements'


# --- recurrent ---

def lstm(name="UNIDIRECTIONAL_SEQUENCE_LSTM", rank=3, options=None, edit=None):
    """Real, of one step or a sequence; @edit changes the inputs or the tensors."""
    c, (inputs, cells) = Cell(1), (3, 4)
    shape = (1, 2, inputs)[-rank:] if rank != 2 or name == "LSTM" else (1, inputs)
    c.add(tensor("t0", F, shape))
    c.weights(cells, inputs, 4)
    c.weights(cells, cells, 4)
    c.none(3)
    c.bias((cells,), 4)
    c.none(2)
    c.state(F, 1, cells)
    c.state(F, 1, cells)
    if edit:
        edit(c)
    table = "LSTMOptions" if name == "LSTM" else "UnidirectionalSequenceLSTMOptions"
    return c.model(name, None, [(F, tuple(shape[:-1]) + (cells,), {})], (table, {"fused_activation_function": 4, **(options or {})}), 3)[1]


def integer_lstm(edit=None, between=5, scale=2.0 ** -12, places=None):
    c = Cell(2)
    c.add(tensor("t0", I8, (1, 2, 3), scale=0.03, zero=5))
    for columns in (3, 4):
        for _ in range(4):
            c.data(c.r.randint(-127, 128, (4, columns)).astype(I8), scale=0.003)
    c.none(3)
    for _ in range(4):
        c.data(np.zeros(4, I32), scale=0.00009)
    c.none(2)
    c.state(I8, 1, 4, scale=0.01, zero=0)
    c.state(I16, 1, 4, scale=2.0 ** -11)
    c.none(4)
    out = {"scale": 0.01, "zero": 0}
    if edit:
        out = edit(c) or out
    more = [tensor("i%d" % k, I16, (), scale=scale) for k in range(between)]
    data = c.model("UNIDIRECTIONAL_SEQUENCE_LSTM", None, [(I8, (1, 2, 4), out)], ("UnidirectionalSequenceLSTMOptions", {"fused_activation_function": 4}), 3, more)[1]
    if places is not None:
        n = len(c.tensors)
        listed = struct.pack("<%di" % (between + 1), between, *range(n, n + between))
        assert data.count(listed) == 1
        data = data.replace(listed, struct.pack("<%di" % (between + 1), between, *places))
    return data


def on_codes(name, states, edit=None):
    """An operator that takes reals, on codes."""
    c = Cell(3)
    c.add(tensor("t0", I8, (1, 2, 3) if "SEQUENCE" in name else (1, 3), scale=0.1, zero=0))
    for k in range(states):
        c.weights(4, 3)
        c.weights(4, 4)
        c.bias((4,))
        c.state(F, 1, 4)
    tables = {"RNN": "RNNOptions", "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions", "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions"}
    table = tables.get(name, "BidirectionalSequenceLSTMOptions")
    return c.model(name, None, [(F, (1, 2, 4), {})] * states, (table, {"fused_activation_function": 4}), 3)[1]


def set_input(place, value):
    def edit(c):
        c.inputs[place] = value
    return edit


def without_quant(place, dtype=None, **more):
    def edit(c):
        row = c.tensors[c.inputs[place]]
        row.update(scale=None, dtype=dtype or row["dtype"], **more)
    return edit


def no_output_scale(c):
    return {"scale": None}


def svdf(rank=2, time=(4, 5), feature=(4, 3), codes=False, scaled=True):
    c = Cell(4)
    c.add(tensor("t0", I8 if codes else F, (1, 3), scale=0.1 if codes else None))
    kind, scale = (I8, {"scale": 0.1}) if codes else (F, {})
    c.data(np.ones(feature, kind), **scale)
    c.data(np.ones(time, I16 if codes else F), **scale)
    c.none()
    c.state(I16 if codes else F, 1, 20, **(scale if scaled else {}))
    return c.model("SVDF", None, [(kind, (1, 2), scale)], ("SVDFOptions", {"rank": rank}), 4)[1]


def recurrent():
    of = lambda name: 'subgraph 0: operator 0 (%s, "y0"): ' % name
    sequence = of("UNIDIRECTIONAL_SEQUENCE_LSTM")
    yield "lstm: a weight is missing", lstm(edit=set_input(2, -1)), sequence + "weights or a bias are missing"
    yield "lstm: a bias is missing", lstm(edit=set_input(13, -1)), sequence + "weights or a bias are missing"
    yield "lstm: diagonal", lstm(options={"diagonal_recurrent_tensors": 1}), sequence + "unsupported diagonal recurrent weights"
    yield "lstm: computed weights", lstm(edit=lambda c: c.tensors[c.inputs[2]].update(data=None, more={"is_variable": 1})), sequence + "*"
    yield "lstm: a sequence of rank 2", lstm(rank=2), sequence + "a sequence of rank 2"
    yield "lstm: no state", lstm(edit=set_input(18, -1)), sequence + "input 18 is missing"
    yield "lstm: bidirectional on codes", on_codes("BIDIRECTIONAL_SEQUENCE_LSTM", 2), of("BIDIRECTIONAL_SEQUENCE_LSTM") + "unsupported BIDIRECTIONAL_SEQUENCE_LSTM on integers"
    for name, states in (("RNN", 1), ("UNIDIRECTIONAL_SEQUENCE_RNN", 1), ("BIDIRECTIONAL_SEQUENCE_RNN", 2)):
        yield name + " on codes", on_codes(name, states), of(name) + "unsupported %s on integers" % name
    yield "integer lstm: intermediates", integer_lstm(between=4), sequence + "unsupported 4 intermediate tensors"
    yield "integer lstm: 12 intermediates of a sequence", integer_lstm(between=12), sequence + "unsupported 12 intermediate tensors, with which *"
    for what, place in (("layer norm", 22), ("projection", 16), ("bias", 17)):
        yield "integer lstm: 8 bits, no " + what, integer_lstm8(0, edit=set_input(place, -1))[1], of("LSTM") + "unsupported 12 intermediate tensors without layer norm*"
    yield "integer lstm: 8 bits, the cell", integer_lstm8(0, edit=lambda c: c.tensors[c.inputs[19]].update(scale=0.25))[1], of("LSTM") + "*of scale 0.25, not 2^-15"
    yield "integer lstm: a scale of 0", integer_lstm(scale=0.0), sequence + "a scale of an intermediate tensor is 0"
    for place in (99, -1):
        yield "integer lstm: intermediate %d" % place, integer_lstm(places=[place, 0, 0, 0, 0]), sequence + "there is no tensor %d" % place
    yield "integer lstm: computed weights", integer_lstm(edit=set_input(2, 0)), sequence + "unsupported weights that are not constant"
    yield "integer lstm: no state", integer_lstm(edit=set_input(19, -1)), sequence + "has no output or no state"
    codes = sequence + "unsupported output of %s with states of %s and %s, not codes of i8, i8 and i16"
    yield "integer lstm: output", integer_lstm(edit=no_output_scale), codes % ("i8 without scale", "i8", "i16")
    yield "integer lstm: h", integer_lstm(edit=without_quant(18)), codes % ("i8", "i8 without scale", "i16")
    yield "integer lstm: c", integer_lstm(edit=without_quant(19)), codes % ("i8", "i8", "i16 without scale")
    yield "integer lstm: type of h", integer_lstm(edit=lambda c: c.tensors[c.inputs[18]].update(dtype=I16)), codes % ("i8", "i16", "i16")
    yield "integer lstm: type of c", integer_lstm(edit=lambda c: c.tensors[c.inputs[19]].update(dtype=I8)), codes % ("i8", "i8", "i8")
    for rank, time, feature in ((0, (4, 5), (4, 3)), (3, (4, 5), (4, 3)), (2, (4, 5, 1), (4, 3)), (2, (4, 5), (4, 3, 1)), (2, (4, 0), (4, 3))):
        yield "svdf: rank %d of %s and %s" % (rank, time, feature), svdf(rank, time, feature), of("SVDF") + "rank %d of these weights" % rank
    yield "svdf: state without a scale", svdf(codes=True, scaled=False), of("SVDF") + "unsupported output or state without quantization"


# --- state ---

def handle(out, name="s"):
    return op("VAR_HANDLE", [], [out], ("VarHandleOptions", {"shared_name": name}))


def in_branch(read, assign=(), before=(), once=None):
    """IF whose branches read a state of the shape @read, and assign an array of their own; before it main assigns an array."""
    def branch(k):
        rows = [tensor("x", F, (1, 2)), tensor("h", RESOURCE, ()), tensor("old", F, read), tensor("c", F, np.shape(assign) or (1, 2), np.ones(np.shape(assign) or (1, 2), F)), tensor("y", F, (1, 2))]
        return rows, [handle(1), op("READ_VARIABLE", [1], [2])] + ([op("ASSIGN_VARIABLE", [1, 3], [])] if len(assign) else []) + [op("ADD", [0, 0], [4], ADD)], [0], [4]
    rows = [tensor("p", B, ()), tensor("x", F, (1, 2)), tensor("y", F, (1, 2)), tensor("h", RESOURCE, ()), tensor("b", F, np.shape(before), np.ones(np.shape(before), F))]
    ops = [op("CALL_ONCE", [], [], ("CallOnceOptions", {"init_subgraph_index": 3}))] if once else []
    ops += [handle(3), op("ASSIGN_VARIABLE", [3, 4], [])] if len(before) else []
    ops.append(op("IF", [0, 1], [2], ("IfOptions", {"then_subgraph_index": 1, "else_subgraph_index": 2})))
    return models([(rows, ops, [0, 1], [2]), branch(1), branch(2)] + ([once] if once else []))


def of_case():
    rows = [tensor("i", I32, ()), tensor("x", F, (1, 2)), tensor("y", F, (1, 2))]
    ops = [op("STABLEHLO_CASE", [0, 1], [2], options_2=("StablehloCaseOptions", {"branch_subgraph_indices": [1, 2, 2]}))]
    plain = [tensor("x", F, (1, 2)), tensor("y", F, (1, 2))], [op("ADD", [0, 0], [1], ADD)], [0], [1]
    reads = [tensor("x", F, (1, 2)), tensor("h", RESOURCE, ()), tensor("y", F, (1, 2))], [handle(1), op("READ_VARIABLE", [1], [2])], [0], [2]
    return [models([(rows, ops, [0, 1], [2]), reads, plain]), models([(rows, ops, [0, 1], [2]), plain, reads])]


def of_unknown_length():
    """A body that assigns the places where its input is true."""
    body = [tensor("x", B, (4,)), tensor("h", RESOURCE, ()), tensor("w", np.int64, (4, 1)), tensor("y", B, (4,))], [
        handle(1), op("WHERE", [0], [2]), op("ASSIGN_VARIABLE", [1, 2], []), op("LOGICAL_NOT", [0], [3])], [0], [3]
    rows = [tensor("p", B, ()), tensor("x", B, (4,)), tensor("y", B, (4,))]
    return models([(rows, [op("IF", [0, 1], [2], ("IfOptions", {"then_subgraph_index": 1, "else_subgraph_index": 1}))], [0, 1], [2]), body])


def states():
    of_if = 'subgraph 0: operator * (IF, "y"): '
    once = [tensor("h", RESOURCE, ()), tensor("k", RESOURCE, ()), tensor("d", F, (1, 2))], [handle(0), handle(1, "t"), op("READ_VARIABLE", [1], [2]), op("ASSIGN_VARIABLE", [0, 2], [])], [], []
    ready = [tensor("h", RESOURCE, ()), tensor("c", F, (1, 2), np.ones((1, 2), F))], [handle(0), op("ASSIGN_VARIABLE", [0, 1], [])], [], []
    yield "state: of another shape in a body", in_branch((1, 2), before=np.ones((2, 2))), of_if + 'unsupported variable "s" of another type or shape in a body'
    yield "state: left with another shape", in_branch((1, 2), assign=np.ones((2, 2)), once=ready), of_if + 'unsupported variable "s" that gets another type or shape in a body'
    yield "state: computed first value", in_branch((1, 2), once=once), '*(ASSIGN_VARIABLE, *unsupported a first value that is not constant'
    for k, data in enumerate(of_case()):
        yield "state: in branch %d of CASE" % k, data, '*unsupported state inside of a branch of CASE'
    yield "state: unknown length", of_unknown_length(), '*(ASSIGN_VARIABLE, *unsupported state of unknown shape'
    large = [tensor("x", F, (1, 2)), tensor("h", RESOURCE, ()), tensor("y", F, (2 ** 15, 2 ** 15))], [handle(1), op("READ_VARIABLE", [1], [2])], [0], [2]
    yield "state: large", models([large]), 'subgraph 0: operator 1 (READ_VARIABLE, "y"): unsupported state of 1073741824 elements'
    rows = [tensor("x", F, (1, 2)), tensor("h", RESOURCE, ()), tensor("y", F, (1, 2))]
    yield "state: no handle", models([(rows, [op("READ_VARIABLE", [1], [2])], [0], [2])]), '*(READ_VARIABLE, "y"): unsupported resource that no VAR_HANDLE makes'


# --- windows, options ---

def windows():
    x, first = tensor("x", F, (3, 4)), tensor("f", F, (), np.zeros((), F))
    scalars = [tensor(n, F, ()) for n in "abc"]
    body = scalars, [op("STABLEHLO_ADD", [0, 1], [2])], [0, 1], [2]

    def hlo(graph=None, **change):
        options = {"window_dimensions": [1, 2], "window_strides": [1, 1], "base_dilations": [1, 1], "window_dilations": [1, 1], "padding": [0, 0, 0, 0], "body_subgraph_index": 1}
        main = [x, first, tensor("y", F, (3, 3))], [op("STABLEHLO_REDUCE_WINDOW", [0, 1], [2], options_2=("StablehloReduceWindowOptions", {**options, **change}))], [0], [2]
        return models([main, graph or body])

    of = 'subgraph 0: operator 0 (STABLEHLO_REDUCE_WINDOW, "y"): '
    for name, said in (("window_dimensions", "1 numbers for 2 axes"), ("window_strides", "1 numbers for 2 axes"), ("window_dilations", "1 numbers for 2 axes"),
                       ("base_dilations", "1 numbers for 2 axes"), ("padding", "1 numbers for 4 axes")):
        yield "window: " + name, hlo(**{name: [1]}), of + "*" + said.split(" for")[0] + "*"
    for name in ("window_dimensions", "window_strides", "window_dilations", "base_dilations"):
        yield "window: %s of 0" % name, hlo(**{name: [1, 0]}), of + "*the number 0 for axis 1"
    yield "window: many", hlo(window_dimensions=[1, 2 ** 24], padding=[0, 0, 2 ** 24, 2 ** 24]), of + "unsupported*"
    yield "window: no such subgraph", hlo(body_subgraph_index=-1), of + "there is no subgraph -1"
    for what, graph in (("two operators", (scalars + [tensor("d", F, ())], [op("STABLEHLO_ADD", [0, 1], [3]), op("STABLEHLO_ADD", [3, 1], [2])], [0, 1], [2])),
                        ("itself", (scalars, [op("STABLEHLO_ADD", [0, 0], [2])], [0, 1], [2])), ("another result", (scalars, [op("STABLEHLO_ADD", [0, 1], [2])], [0, 1], [0])),
                        ("the first", (scalars, [], [0, 1], [0])), ("no inputs", (scalars, [op("STABLEHLO_ADD", [0, 1], [2])], [], [2])),
                        ("a custom operator", (scalars, [op("", [0, 1], [2], custom="Nobody")], [0, 1], [2])), ("a function", (scalars, [op("POW", [0, 1], [2])], [0, 1], [2]))):
        yield "window: subgraph of " + what, hlo(graph), of + "unsupported subgraph 1 that is not one sum, product, minimum, maximum, and or or"
    lists = [tensor(n, np.int64, (2,), np.array(v, np.int64)) for n, v in (("size", [1, 2]), ("stride", [1, 1]), ("apart", [1, 1]))]
    for k, value in ((0, 0), (1, -1), (2, 2 ** 31)):
        rows = [x, first] + [dict(t, data=np.array([1, value], np.int64)) if k == i else t for i, t in enumerate(lists)] + [tensor("y", F, (3, 3))]
        data = model(rows, [op("REDUCE_WINDOW", [0, 1, 2, 3, 4], [5], options_2=("ReduceWindowOptions", {"reduce_function": 1}))], [0], [5])
        yield "window: %d" % value, data, 'subgraph 0: operator 0 (REDUCE_WINDOW, "y"): a window, stride or dilation of %d' % value
    several = [x, x, first, tensor("y", F, (4,))], [op("STABLEHLO_REDUCE", [0, 1, 2, 2], [3], options_2=("StablehloReduceOptions", {"dimensions": [0], "body_subgraph_index": 1}))], [0, 1], [3]
    yield "reduce: several", models([several, body]), '*(STABLEHLO_REDUCE, "y"): unsupported several reductions at once'


def options():
    """Options that are cut, or whose bytes are not a map: the boxes are refused in one line, or none are found."""
    (_, data, *_), = detection(np.random.RandomState(0))
    old = flex_map(max_detections=2, max_classes_per_detection=1, num_classes=2, nms_score_threshold=0.1, nms_iou_threshold=0.5, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
    at = data.index(old)
    for n in range(len(old)):
        yield "options: the last %d bytes" % n, data[:at - 4] + struct.pack("<I", n) + old[len(old) - n:] + bytes(len(old) - n) + data[at + len(old):], None
        for value in (0, 255):
            yield "options: byte %d is %d" % (n, value), data[:at + n] + bytes([value]) + data[at + n + 1:], None


def lengths():
    """Lengths that are only said make no constants as long."""
    def places(name, out, raw, *shapes):
        tensors = [tensor("x%d" % k, F, s) for k, s in enumerate(shapes[:-1])] + [tensor("y", F, shapes[-1])]
        outs = [tensor("at", out, shapes[-1])] if out else []
        n = len(tensors) - 1
        return model(tensors + outs, [op("", list(range(n)), list(range(n, n + 1 + len(outs))), custom=name, raw=raw)], list(range(n)), list(range(n, n + 1 + len(outs))))
    words = lambda kernel, stride: struct.pack("<10i", 1, *stride, *kernel, 0, 0, 0, 0, 0)
    for long in ((84000000, 1, 1), (1, 84000000, 1), (40000, 50000, 1)):
        yield "long: maxima of %s" % (long,), places("MaxPoolingWithArgmax2D", F, words((4096, 4096), (1, 1)), (1, *long), (1, *long)), "read"
    raw = flex_map(ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="SAME", include_batch_in_index=0)
    yield "long: maxima of channels", places("MaxPoolWithArgmax", I32, raw, (1, 1, 1, 84000000), (1, 1, 1, 84000000)), "read"
    yield "long: blocks", places("MaxUnpooling2D", None, words((4096, 4096), (4096, 4096)), (1, 2, 2, 1), (1, 2, 2, 1), (1, 8192, 8192, 1)), "read"


def rows():
    for part in (tensors, blocks, sparse, recurrent, states, windows, options, lengths):
        yield from part()


def main():
    found = list(rows())
    run = subprocess.run([sys.argv[1]], input=b"".join(struct.pack("<I", len(data)) + data for _, data, _ in found), capture_output=True)
    lines, bad = run.stdout.decode(errors="replace").splitlines(), 0
    if len(lines) != len(found) or run.returncode != 0:
        print("Bail out! %d lines for %d files, exit code %d, at %s" % (len(lines), len(found), run.returncode, found[min(len(lines), len(found) - 1)][0]))
        sys.exit(1)
    for k, ((what, _, said), line) in enumerate(zip(found, lines), 1):
        fine = line != "" if said is None else fnmatch.fnmatchcase(line, said.replace("[", "[[]"))
        bad += not fine
        print("%s %d %s%s" % ("ok" if fine else "not ok", k, what, "" if fine else " # %s instead of %s" % (line, said)))
    print("1..%d" % len(found))
    sys.exit(bad > 0)


main()
