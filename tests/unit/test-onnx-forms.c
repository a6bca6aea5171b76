/* test-onnx-forms.c - forms that exporters write: old opsets, values of open rank, imports that are missing or twice;
 * forms that are written
 *
 * Models are protobuf's JSON with ' for ". Each runs, and again as it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "onnx-case.h"

#define X4   VALUE ("x", FLOAT, DIM ("4"))
#define X12  VALUE ("x", FLOAT, DIM ("1") "," DIM ("2") "," DIM ("1") "," DIM ("2"))
#define X21  VALUE ("x", FLOAT, DIM ("2") "," DIM ("1"))
#define X1123 VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("2") "," DIM ("3"))
#define C2   INIT ("c", FLOAT, "2", "floatData", "10,20")
#define QUANT(domain, op, in, attributes) \
  "{'opType':'" op "','domain':'" domain "','input':[" in "],'output':['y'],'attribute':[" attributes "]}"
#define QUANT_INIT(scale, zero, bits) \
  INIT ("s", FLOAT, "1", "floatData", scale) "," INIT ("z", FLOAT, "", "floatData", zero) "," \
  INIT ("bits", FLOAT, "", "floatData", bits)
#define CODES INIT ("s", FLOAT, "", "floatData", "0.5") "," INIT ("z", "2", "", "int32Data", "2")
#define CHANNEL_CODES INIT ("s", FLOAT, "2", "floatData", "0.5,1") "," INIT ("z", "2", "2", "int32Data", "2,0")
#define CLIPPED(bounds) \
  NODE ("QuantizeLinear", "'x','s','z'", "'q'", "") "," NODE ("Clip", "'q'," bounds, "'c'", "") "," \
  NODE ("DequantizeLinear", "'c','s','z'", "'y'", "")
#define COPIES INTS ("consumed_inputs", "0")

/* A value whose rank an If leaves open: its branches have three axes and two. */
#define BRANCH(name, op, in) GRAPH (name, "'output':[" NAMED ("b") "],'node':[" NODE (op, in, "'b'", "") "]")
#define OPEN_RANK(nodes) \
  MODEL ("13", INIT ("one", INT64, "1", "int64Data", "1") "," INIT ("k", FLOAT, "1,1,1", "floatData", "3") "," \
               INIT ("w", FLOAT, "1,4,2", "floatData", "1,0,0,1,1,0,0,1") "," \
               INIT ("r", FLOAT, "1,4,1", "floatData", "0,0,0,0"), \
         VALUE ("x", FLOAT, OPEN ("t") "," DIM ("1") "," DIM ("2")), \
         NODE ("Shape", "'x'", "'s'", "") "," NODE ("ReduceSum", "'s'", "'n'", INT ("keepdims", "0")) "," \
         NODE ("Equal", "'n','one'", "'e'", "") "," \
         NODE ("If", "'e'", "'z'", BRANCH ("then_branch", "Squeeze", "'x','one'") "," \
                                   BRANCH ("else_branch", "Identity", "'x'")) "," nodes)

static const OnnxCase cases[] = {
  /* broadcasting along a named axis, below opset 7 */
  { "add-along-axis",
    MODEL ("6", C2, X12, NODE ("Add", "'x','c'", "'y'", INT ("axis", "1") "," INT ("broadcast", "1"))),
    "1,2,1,2", "1,2,3,4", "11,12,23,24" },
  { "mul-behind", MODEL ("6", C2, X12, NODE ("Mul", "'x','c'", "'y'", INT ("broadcast", "1"))),
    "1,2,1,2", "1,2,3,4", "10,40,30,80" },
  { "div-along-axis",
    MODEL ("1", C2, X12, NODE ("Div", "'x','c'", "'y'", INT ("axis", "1") "," INT ("broadcast", "1") "," COPIES)),
    "1,2,1,2", "1,2,4,6", "0.1,0.2,0.2,0.3" },
  { "pow-along-axis",
    MODEL ("1", INIT ("c", FLOAT, "2", "floatData", "1,2"), X12,
           NODE ("Pow", "'x','c'", "'y'", INT ("axis", "1") "," INT ("broadcast", "1"))),
    "1,2,1,2", "1,2,3,4", "1,2,9,16" },
  { "prelu-channels", MODEL ("6", C2, X12, NODE ("PRelu", "'x','c'", "'y'", "")),
    "1,2,1,2", "-1,2,-3,4", "-10,2,-60,4" },
  /* shapes that are allowed and rare, attributes that other tools write beside ONNX's */
  { "batch-norm-of-a-vector",
    MODEL ("13", INIT ("s", FLOAT, "1", "floatData", "4") "," INIT ("o", FLOAT, "1", "floatData", "1"), X4,
           NODE ("BatchNormalization", "'x','s','o','o','s'", "'y'", REAL ("epsilon", "0"))),
    "4", "1,2,3,4", "1,3,5,7" },
  { "features-of-more-axes",
    MODEL ("13", "", X12, QUANT ("ai.onnx.ml", "FeatureVectorizer", "'x'", INTS ("inputdimensions", "4"))),
    "1,2,1,2", "1,2,3,4", "1,2,3,4" },
  { "numbers-of-bits", MODEL ("13", "", X4, NODE ("Relu", "'x'", "'y'", INT ("out_bits", "8"))), "4", "-1,2,-3,4",
    "0,2,0,4" },
  /* attributes in place of inputs, other defaults */
  { "relu-1", MODEL ("1", "", X4, NODE ("Relu", "'x'", "'y'", COPIES)), "4", "-1,2,-3,4", "0,2,0,4" },
  { "min-6", MODEL ("6", "", X4, NODE ("Min", "'x','x'", "'y'", "")), "4", "-1,2,-3,4", "-1,2,-3,4" },
  { "concat-1", MODEL ("1", "", X21, NODE ("Concat", "'x','x'", "'y'", "")), "2,1", "1,2", "1,1,2,2" },
  { "reshape-1",
    MODEL ("1", "", X4, NODE ("Reshape", "'x'", "'t'", INTS ("shape", "2,2")) "," NODE ("Transpose", "'t'", "'y'", "")),
    "4", "1,2,3,4", "1,3,2,4" },
  { "cast-1", /* INT32, FLOAT */
    MODEL ("1", "", X4, NODE ("Cast", "'x'", "'i'", TEXT ("to", "SU5UMzI=")) ","
                        NODE ("Cast", "'i'", "'y'", TEXT ("to", "RkxPQVQ="))),
    "4", "1.5,2.5,-3.5,4", "1,2,-3,4" },
  { "top-k-1", MODEL ("1", "", X4, NODE ("TopK", "'x'", "'y','i'", INT ("k", "2") "," INT ("axis", "0"))),
    "4", "1,4,3,2", "4,3" },
  { "upsample-7", MODEL ("7", "", X12, NODE ("Upsample", "'x'", "'y'", REALS ("scales", "1,1,1,2"))),
    "1,2,1,2", "1,2,3,4", "1,1,2,2,3,3,4,4" },
  { "pad-1", MODEL ("1", "", X4, NODE ("Pad", "'x'", "'y'", INTS ("paddings", "1,0"))), "4", "1,2,3,4", "0,1,2,3,4" },
  { "dropout-6", MODEL ("6", "", X4, NODE ("Dropout", "'x'", "'y'", INT ("is_test", "1"))), "4", "1,2,3,4", "1,2,3,4" },
  /* operators that are no more */
  { "image-scaler",
    MODEL ("7", "", X12, NODE ("ImageScaler", "'x'", "'y'", REAL ("scale", "2") "," REALS ("bias", "1,-1"))),
    "1,2,1,2", "1,2,3,4", "3,5,5,7" },
  { "affine", MODEL ("7", "", X4, NODE ("Affine", "'x'", "'y'", REAL ("alpha", "2") "," REAL ("beta", "1"))),
    "4", "1,2,3,4", "3,5,7,9" },
  { "crop", MODEL ("7", "", X1123, NODE ("Crop", "'x'", "'y'", INTS ("border", "1,0,0,1"))),
    "1,1,2,3", "1,2,3,4,5,6", "2,3" },
  { "crop-size",
    MODEL ("7", "", X1123, NODE ("Crop", "'x'", "'y'", INTS ("border", "1,0,0,0") "," INTS ("scale", "2,1"))),
    "1,1,2,3", "1,2,3,4,5,6", "2,5" },
  /* blocks of two beside each other, and such that overlap */
  { "col2im",
    MODEL ("18", INIT ("i", INT64, "2", "int64Data", "1,4") "," INIT ("b", INT64, "2", "int64Data", "1,2"),
           VALUE ("x", FLOAT, DIM ("1") "," DIM ("2") "," DIM ("2")),
           NODE ("Col2Im", "'x','i','b'", "'y'", INTS ("strides", "1,2"))),
    "1,2,2", "1,2,3,4", "1,3,2,4" },
  { "col2im-overlap",
    MODEL ("18", INIT ("i", INT64, "2", "int64Data", "1,4") "," INIT ("b", INT64, "2", "int64Data", "1,2"),
           VALUE ("x", FLOAT, DIM ("1") "," DIM ("2") "," DIM ("3")), NODE ("Col2Im", "'x','i','b'", "'y'", "")),
    "1,2,3", "1,2,3,4,5,6", "1,6,8,6" },
  /* imports */
  { "not-imported",
    MODEL ("13", INIT ("c", FLOAT, "4", "floatData", "0,0,0,0"), X4,
           "{'opType':'BiasGelu','domain':'com.microsoft','input':['x','c'],'output':['y']}"),
    "4", "0,0,0,100", "0,0,0,100" },
  { "imported-twice",
    IMPORTS ("13", ",{'domain':'ai.onnx','version':13}", "", X4, NODE ("Relu", "'x'", "'y'", "")),
    "4", "-1,2,-3,4", "0,2,0,4" },
  /* QONNX */
  { "quant-4-bits",
    MODEL ("13", QUANT_INIT ("0.5", "0", "4"), X4,
           QUANT ("qonnx.custom_op.general", "Quant", "'x','s','z','bits'", INT ("signed", "1"))),
    "4", "-5,0.3,1.2,9", "-4,0.5,1,3.5" },
  { "quant-narrow", /* a tie goes to the even code */
    MODEL ("13", QUANT_INIT ("1", "0", "2"), X4,
           QUANT ("onnx.brevitas", "Quant", "'x','s','z','bits'", INT ("signed", "1") "," INT ("narrow", "1"))),
    "4", "-3,-0.4,0.6,0.5", "-1,0,1,0" },
  { "quant-zero-point",
    MODEL ("13", QUANT_INIT ("0.5", "10", "8"), X4,
           QUANT ("qonnx.custom_op.general", "IntQuant", "'x','s','z','bits'", INT ("signed", "0"))),
    "4", "-9,-1.2,2,200", "-5,-1,2,122.5" },
  { "quant-channels",
    MODEL ("13", INIT ("s", FLOAT, "2,1,1", "floatData", "1,2") "," INIT ("z", FLOAT, "", "floatData", "0") ","
                 INIT ("bits", FLOAT, "", "floatData", "3"), X12,
           QUANT ("finn.custom_op.general", "Quant", "'x','s','z','bits'", INT ("signed", "1"))),
    "1,2,1,2", "1.4,9,-9,4.5", "1,3,-8,4" },
  { "quant-one-bit", /* of two signs */
    MODEL ("13", QUANT_INIT ("2", "0", "1"), X4, QUANT ("onnx.brevitas", "Quant", "'x','s','z','bits'", "")),
    "4", "-1,0,1,3", "-2,2,2,2" },
  { "quant-floor",
    MODEL ("13", QUANT_INIT ("0.5", "0", "4"), X4,
           QUANT ("qonnx.custom_op.general", "Quant", "'x','s','z','bits'", TEXT ("rounding_mode", "RkxPT1I="))),
    "4", "-5,-0.1,1.4,9", "-4,-0.5,1,3.5" },
  { "quant-half-up", /* away from zero */
    MODEL ("13", QUANT_INIT ("1", "0", "4"), X4,
           QUANT ("qonnx.custom_op.general", "Quant", "'x','s','z','bits'", TEXT ("rounding_mode", "SEFMRl9VUA=="))),
    "4", "0.5,-0.5,1.4,2.5", "1,-1,1,3" },
  { "quant-up",
    MODEL ("13", QUANT_INIT ("1", "0", "4"), X4,
           QUANT ("qonnx.custom_op.general", "Quant", "'x','s','z','bits'", TEXT ("rounding_mode", "VVA="))),
    "4", "0.5,-0.1,1,2.1", "1,-1,1,3" },
  { "trunc",
    MODEL ("13", QUANT_INIT ("0.5", "0", "8") "," INIT ("to", FLOAT, "", "floatData", "6"), X4,
           QUANT ("qonnx.custom_op.general", "Trunc", "'x','s','z','bits','to'", "")),
    "4", "1.5,2,5,-1", "0,0.5,1,-0.5" },
  { "bipolar-quant",
    MODEL ("13", QUANT_INIT ("2", "0", "1"), X4, QUANT ("qonnx.custom_op.general", "BipolarQuant", "'x','s'", "")),
    "4", "-1,0,1,3", "-2,2,2,2" },
  /* steps that are not positive: constant codes, of which -128 has no opposite, and others */
  { "negative-steps",
    MODEL ("13", INIT ("s", FLOAT, "2", "floatData", "-0.5,-2") "," INIT ("q", "3", "2,2", "int32Data", "-128,4,-3,0"),
           VALUE ("x", FLOAT, DIM ("2") "," DIM ("2")),
           NODE ("DequantizeLinear", "'q','s'", "'w'", INT ("axis", "1")) "," NODE ("Add", "'x','w'", "'y'", "")),
    "2,2", "0,0,0,0", "64,-8,1.5,0" },
  { "step-of-zero",
    MODEL ("13", INIT ("s", FLOAT, "2", "floatData", "0,-1") "," INIT ("z", "2", "2", "int32Data", "7,3") ","
                 INIT ("q", "2", "2", "int32Data", "9,4"), VALUE ("x", FLOAT, DIM ("2")),
           NODE ("DequantizeLinear", "'q','s','z'", "'w'", INT ("axis", "0")) "," NODE ("Add", "'x','w'", "'y'", "")),
    "2", "1,1", "1,0" },
  { "negative-step-of-data",
    MODEL ("13", CODES "," INIT ("n", FLOAT, "", "floatData", "-1"), X4,
           NODE ("QuantizeLinear", "'x','s','z'", "'q'", "") "," NODE ("DequantizeLinear", "'q','n','z'", "'y'", "")),
    "4", "-3,1.3,9,2", "2,-3,-18,-4" },
  { "extended-pair",
    MODEL ("13", CODES, X4,
           "{'opType':'ExtendedQuantizeLinear','domain':'com.amd.quark','input':['x','s','z'],'output':['q']},"
           "{'opType':'ExtendedDequantizeLinear','domain':'com.amd.quark','input':['q','s','z'],'output':['y']}"),
    "4", "-3,1.3,9,2", "-1,1.5,9,2" },
  /* codes that are bounded between their quantization and dequantization */
  { "clip-of-codes",
    MODEL ("13", CODES "," INIT ("lo", "2", "", "int32Data", "4") "," INIT ("hi", "2", "", "int32Data", "10"), X4,
           NODE ("QuantizeLinear", "'x','s','z'", "'q'", "") "," NODE ("Clip", "'q','lo','hi'", "'c'", "") ","
           NODE ("DequantizeLinear", "'c','s','z'", "'y'", "")),
    "4", "-3,1.3,9,2", "1,1.5,4,2" },
  { "clip-of-constant-codes",
    MODEL ("13", CODES "," INIT ("hi", "2", "", "int32Data", "4") "," INIT ("q", "2", "4", "int32Data", "1,3,5,200"),
           X4,
           NODE ("Clip", "'q','','hi'", "'c'", "") "," NODE ("DequantizeLinear", "'c','s','z'", "'w'", "") ","
           NODE ("Add", "'x','w'", "'y'", "")),
    "4", "0,0,0,0", "-0.5,0.5,1,1" },
  { "clip-of-codes-below",
    MODEL ("13", CODES "," INIT ("lo", "2", "", "int32Data", "4"), X4, CLIPPED ("'lo'")),
    "4", "-3,1.3,9,2", "1,1.5,9,2" },
  { "clip-of-codes-by-crossing-bounds",
    MODEL ("13", CODES "," INIT ("lo", "2", "", "int32Data", "10") "," INIT ("hi", "2", "", "int32Data", "4"), X4,
           CLIPPED ("'lo','hi'")),
    "4", "-3,1.3,9,2", "1,1,1,1" },
  { "clip-of-codes-by-a-computed-bound",
    MODEL ("13", CODES, X4,
           NODE ("ReduceMax", "'x'", "'m'", INT ("keepdims", "0")) "," NODE ("Cast", "'m'", "'lo'", INT ("to", "2")) ","
           CLIPPED ("'lo'")),
    "4", "-3,1.3,9,2", "3.5,3.5,9,3.5" },
  { "clip-of-codes-per-channel",
    MODEL ("13", CHANNEL_CODES "," INIT ("lo", "2", "", "int32Data", "3") "," INIT ("hi", "2", "", "int32Data", "8"),
           X12, CLIPPED ("'lo','hi'")),
    "1,2,1,2", "-3,1.3,9,2", "0.5,1.5,8,3" },
  { "clip-of-codes-per-channel-below",
    MODEL ("13", CHANNEL_CODES "," INIT ("lo", "2", "", "int32Data", "3"), X12, CLIPPED ("'lo'")),
    "1,2,1,2", "-3,1.3,9,2", "0.5,1.5,9,3" },
  { "clip-of-codes-per-channel-above",
    MODEL ("13", CHANNEL_CODES "," INIT ("hi", "2", "", "int32Data", "4"), X12, CLIPPED ("'','hi'")),
    "1,2,1,2", "-3,1.3,9,2", "-1,1,4,2" },
  { "clip-of-integers",
    MODEL ("13", INIT ("lo", "2", "", "int32Data", "4") "," INIT ("hi", "2", "", "int32Data", "10"), X4,
           NODE ("Cast", "'x'", "'q'", INT ("to", "2")) "," NODE ("Clip", "'q','lo','hi'", "'c'", "") ","
           NODE ("Cast", "'c'", "'y'", INT ("to", "1"))),
    "4", "1,5,9,200", "4,5,9,10" },
  { "clip-of-constant-codes-below",
    MODEL ("13", CODES "," INIT ("lo", "2", "", "int32Data", "4") "," INIT ("q", "2", "4", "int32Data", "1,3,5,200"),
           X4,
           NODE ("Clip", "'q','lo'", "'c'", "") "," NODE ("DequantizeLinear", "'c','s','z'", "'w'", "") ","
           NODE ("Add", "'x','w'", "'y'", "")),
    "4", "0,0,0,0", "1,1,1.5,99" },
  { "clip-by-crossing-bounds",
    MODEL ("13", INIT ("lo", FLOAT, "", "floatData", "3") "," INIT ("hi", FLOAT, "", "floatData", "1"), X4,
           NODE ("Clip", "'x','lo','hi'", "'y'", "")),
    "4", "-3,1.3,9,2", "1,1,1,1" },
  { "clip-without-bounds", MODEL ("13", "", X4, NODE ("Clip", "'x'", "'y'", "")), "4", "-3,1.3,9,2", "-3,1.3,9,2" },
  /* lengths and ranks that are open */
  { "softmax-open",
    MODEL ("11", "", VALUE ("x", FLOAT, OPEN ("a") "," OPEN ("b") "," DIM ("2")),
           NODE ("Softmax", "'x'", "'y'", INT ("axis", "1"))),
    "2,1,2", "0,0,1,1", "0.5,0.5,0.5,0.5" },
  { "softmax-of-squeezed-open-length",
    MODEL ("13", INIT ("zero", INT64, "1", "int64Data", "0"),
           VALUE ("x", FLOAT, OPEN ("a") "," OPEN ("b") "," DIM ("2")),
           NODE ("Squeeze", "'x','zero'", "'s'", "") "," NODE ("Softmax", "'s'", "'y'", "")),
    "1,2,2", "0,0,1,1", "0.5,0.5,0.5,0.5" },
  { "slice-open-length", /* as many starts as there are ends */
    MODEL ("13", INIT ("e", INT64, "1", "int64Data", "4") "," INIT ("zero", INT64, "1", "int64Data", "0"), X4,
           NODE ("NonZero", "'x'", "'n'", "") "," NODE ("Squeeze", "'n','zero'", "'s'", "") ","
           NODE ("Slice", "'x','s','e','zero'", "'y'", "")),
    "4", "0,0,5,0", "5,0" },
  { "slice-backwards-open-length", /* from the first element, not from before it */
    MODEL ("13", INIT ("b", INT64, "1", "int64Data", "-9") "," INIT ("e", INT64, "1", "int64Data", "-100") ","
                 INIT ("a", INT64, "1", "int64Data", "0") "," INIT ("m", INT64, "1", "int64Data", "-1"),
           VALUE ("x", FLOAT, OPEN ("n")), NODE ("Slice", "'x','b','e','a','m'", "'y'", "")),
    "3", "3,4,5", "3" },
  { "lstm-open-rank",
    OPEN_RANK (NODE ("LSTM", "'z','w','r'", "'h'", INT ("hidden_size", "1")) ","
               NODE ("ReduceMax", "'h'", "'y'", INTS ("axes", "3") "," INT ("keepdims", "0"))),
    "2,1,2", "0,0,0,0", "0,0" },
  { "conv-open-rank", OPEN_RANK (NODE ("Conv", "'z','k'", "'y'", "")), "2,1,2", "1,2,3,4", "3,6,9,12" },
  { "pool-open-rank", OPEN_RANK (NODE ("MaxPool", "'z'", "'y'", INTS ("kernel_shape", "2"))),
    "2,1,2", "1,2,3,4", "2,4" },
  { "concat-open-rank", OPEN_RANK (NODE ("Concat", "'z','z'", "'y'", INT ("axis", "1"))),
    "2,1,2", "1,2,3,4", "1,2,1,2,3,4,3,4" },
};

#define AXIS1 INIT ("axis", INT64, "", "int64Data", "1")
#define X141 VALUE ("x", FLOAT, DIM ("1") "," DIM ("4") "," DIM ("1"))
#define X1114 VALUE ("x", FLOAT, DIM ("1") "," DIM ("1") "," DIM ("1") "," DIM ("4"))

/* What ONNX has and is not written. */
static const OnnxCase read_only[] = {
  /* 1 + 2 w + 3 w^2 + 4 w^3 for the roots w of 1 */
  { "dft-17", MODEL ("17", "", X141, NODE ("DFT", "'x'", "'y'", "")),
    "1,4,1", "1,2,3,4", "10,0,-2,2,-2,0,-2,-2" },
  { "dft-one-sided",
    MODEL ("17", "", X141, NODE ("DFT", "'x'", "'y'", INT ("onesided", "1"))),
    "1,4,1", "1,2,3,4", "10,0,-2,2,-2,0" },
  { "dft-20-inverse",
    MODEL ("20", AXIS1, VALUE ("x", FLOAT, DIM ("1") "," DIM ("4") "," DIM ("2")),
           NODE ("DFT", "'x','','axis'", "'y'", INT ("inverse", "1"))),
    "1,4,2", "10,0,-2,2,-2,0,-2,-2", "1,0,2,0,3,0,4,0" },
  { "dft-inverse-one-sided",
    MODEL ("17", "", VALUE ("x", FLOAT, DIM ("1") "," DIM ("3") "," DIM ("2")),
           NODE ("DFT", "'x'", "'y'", INT ("onesided", "1") "," INT ("inverse", "1"))),
    "1,3,2", "10,0,-2,2,-2,0", "1,2,3,4" },
  { "dft-length",
    MODEL ("17", INIT ("n", INT64, "", "int64Data", "2"), X141,
           NODE ("DFT", "'x','n'", "'y'", "")),
    "1,4,1", "1,2,3,4", "3,0,-1,0" },
  { "stft",
    MODEL ("17", INIT ("step", INT64, "", "int64Data", "2") "," INIT ("n", INT64, "", "int64Data", "2"),
           X141, NODE ("STFT", "'x','step','','n'", "'y'", "")),
    "1,4,1", "1,2,3,4", "3,0,-1,0,7,0,-1,0" },
  { "stft-window",
    MODEL ("17", INIT ("step", INT64, "", "int64Data", "1") "," INIT ("w", FLOAT, "2", "floatData", "1,2"),
           VALUE ("x", FLOAT, DIM ("1") "," DIM ("3")), NODE ("STFT", "'x','step','w'", "'y'", "")),
    "1,3", "1,2,3", "5,0,-3,0,8,0,-4,0" },
  { "hann-window",
    MODEL ("17", INIT ("n", INT64, "", "int64Data", "4"), X4,
           NODE ("HannWindow", "'n'", "'h'", "") "," NODE ("Mul", "'x','h'", "'y'", "")),
    "4", "1,2,3,4", "0,1,3,2" },
  { "blackman-window",
    MODEL ("17", INIT ("n", INT64, "", "int64Data", "3"), VALUE ("x", FLOAT, DIM ("3")),
           NODE ("BlackmanWindow", "'n'", "'h'", INT ("periodic", "0")) "," NODE ("Mul", "'x','h'", "'y'", "")),
    "3", "1,2,3", "0,2,0" },
  /* each tap half an element to the right: the last sees half of the border */
  { "deform-conv",
    MODEL ("19", INIT ("w", FLOAT, "1,1,1,1", "floatData", "2") ","
           INIT ("o", FLOAT, "1,2,1,4", "floatData", "0,0,0,0,0.5,0.5,0.5,0.5") ","
           INIT ("b", FLOAT, "1", "floatData", "1"),
           X1114,
           NODE ("DeformConv", "'x','w','o','b'", "'y'", "")),
    "1,1,1,4", "1,2,3,4", "4,6,8,5" },
};

/* --- what is written --------------------------------------------------------------- */

static LptGraph *
write_and_read (LptGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lpt_onnx_serialise (graph, 0, &error);
  LptGraph *again;

  g_assert_no_error (error);
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);

  return again;
}

/* -1 is the rest of an axis here and nothing in ONNX, computed as well as constant. */
static void
test_split_rest (void)
{
  static const char *const lengths[] = {
    "%l = Const {1, -1} : i64[2]\n",
    "%s = ShapeOf(%x) : i64[2]\n%i = Const {1} : i64[1]\n%o = Const {0} : i64[]\n%g = Gather(%s, %i, %o) : i64[1]\n"
    "%t = Const {3} : i64[]\n%h = Divide(%g, %t) : i64[1]\n"
    "%r = Const {-1} : i64[1]\n%l = Concat(%h, %r) {axis=0} : i64[2]\n",
  };

  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      g_autofree char *text = g_strconcat ("%x = Parameter : f32[1,3]\n", lengths[k],
                                           "%a = Const {1} : i64[]\n"
                                           "%y = VariadicSplit(%x, %a, %l) : f32[1,1], f32[1,2]\n"
                                           "Result(%y.1)\n", NULL);
      const OnnxCase c = { "split-rest", "", "1,3", "1,2,3", "2,3" };
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error), again = NULL;
      LptTensor *written;

      g_assert_no_error (error);
      again = write_and_read (graph);
      onnx_case_run (&c, again);
      written = lpt_node_const_in (lpt_node_src (g_ptr_array_index (again->results, 0), 0), 2);
      g_assert_nonnull (written);
      for (gint64 i = 0; i < lpt_tensor_count (written); i++)
        g_assert_cmpint (lpt_tensor_get_i64 (written, i), ==, i + 1);
    }
}

/* Gather takes indices of 32 and 64 bits with a sign. */
static void
test_index_types (void)
{
  static const char *const types[] = { "u8", "u32", "i32", "i64" };
  static const char *const ops[] = { "Gather@8(%x, %i, %a)", "GatherElements(%x, %i) {axis=1}" };

  for (guint k = 0; k < G_N_ELEMENTS (types) * G_N_ELEMENTS (ops); k++)
    {
      g_autofree char *text = g_strdup_printf ("%%x = Parameter : f32[1,3]\n"
                                               "%%j = Const {2, 0} : %s[1,2]\n%%i = Relu(%%j) : %s[1,2]\n"
                                               "%%a = Const {1} : i64[]\n%%y = %s\nResult(%%y)\n",
                                               types[k / 2], types[k / 2], ops[k % 2]);
      const OnnxCase c = { "index-types", "", "1,3", "1,2,3", "3,1" };
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error), again = NULL;
      LptDType dtype;

      g_assert_no_error (error);
      again = write_and_read (graph);
      onnx_case_run (&c, again);
      dtype = lpt_node_in (lpt_node_src (g_ptr_array_index (again->results, 0), 0), 1)->dtype;
      g_assert_true (dtype == LPT_DTYPE_I32 || dtype == LPT_DTYPE_I64);
    }
}

/* One class of one image is sorted as it is found; of more the order is that of ONNX no more. */
static void
test_sorted_boxes (void)
{
  for (gint64 classes = 1; classes <= 2; classes++)
    {
      g_autofree char *text = g_strdup_printf ("%%b = Parameter : f32[1,4,4]\n"
                                               "%%s = Parameter : f32[1,%d,4]\n%%n = Const {3} : i64[]\n"
                                               "%%t = Const {0.5} : f32[]\n"
                                               "%%y = NonMaxSuppression(%%b, %%s, %%n, %%t, %%t) "
                                               "{sort_result_descending=true} : i64[?,3], f32[?,3], i64[1]\n"
                                               "Result(%%y)\n", (int) classes);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error);
      g_autoptr (GBytes) bytes = NULL;

      g_assert_no_error (error);
      bytes = lpt_onnx_serialise (graph, 0, &error);
      if (classes == 1)
        g_assert_no_error (error);
      else
        g_assert_error (error, LPT_ERROR, LPT_ERROR_UNSUPPORTED);
    }
}

/* DequantizeLinear takes no codes of 64 bits: biases of products of 16-bit data are Cast, Sub and Mul. */
static void
test_wide_codes (void)
{
  static const char text[] = "graph {lowered=true}\n%x = Parameter : f32[1,2]\n"
                             "%b = Const {300, 5000000000} : i64[2] q{axis=0, scale=[0.5,0.25], zp=[100,0]}\n"
                             "%d = Dequantize(%b) : f32[2]\n%y = Add(%x, %d) : f32[1,2]\nResult(%y)\n";
  const OnnxCase c = { "wide-codes", "", "1,2", "1,2", "101,1250000002" };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error), again = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_assert_no_error (error);
  bytes = lpt_onnx_serialise (graph, LPT_ONNX_JSON, &error);
  g_assert_no_error (error);
  g_assert_null (g_strstr_len (g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                               "\"opType\": \"DequantizeLinear\""));
  again = lpt_onnx_parse (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), NULL, &error);
  g_assert_no_error (error);
  onnx_case_run (&c, again);
}

/* Readers keep an Identity where one value has two names. */
static void
test_identity (void)
{
  static const char text[] = "%x = Parameter : f32[1,2]\n%y = Identity(%x) : f32[1,2]\n"
                             "%q = Quantize(%x) : i8[1,2] q{scale=0.5}\n%i = Identity(%q) : i8[1,2] q{scale=0.5}\n"
                             "%d = Dequantize(%i) : f32[1,2]\n%z = Add(%y, %d) : f32[1,2]\nResult(%z)\n";
  const OnnxCase c = { "identity", "", "1,2", "1,2.2", "2,4.2" };
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (text, -1, NULL, &error), again = NULL;

  g_assert_no_error (error);
  again = write_and_read (graph);
  onnx_case_run (&c, again);
}

/* A Loop whose condition and number of the iteration are declared as vectors of one. */
#define ONE(name, elem) VALUE (name, elem, DIM ("1"))
#define LOOP_OF_ONE \
  "{'irVersion':8,'opsetImport':[{'version':13}],'graph':{'name':'g','initializer':[" \
  INIT ("go", "9", "1", "int32Data", "1") "," INIT ("m", INT64, "1", "int64Data", "5") "," \
  INIT ("limit", FLOAT, "1", "floatData", "4") "],'input':[" ONE ("x", FLOAT) "],'output':[" NAMED ("y") "],'node':[" \
  "{'opType':'Loop','input':['m','go','x'],'output':['y'],'attribute':[{'name':'body','type':'GRAPH','g':{'name':'b'," \
  "'input':[" ONE ("i", INT64) "," ONE ("c", "9") "," ONE ("v", FLOAT) "]," \
  "'output':[" NAMED ("more") "," NAMED ("w") "],'node':[" NODE ("Cast", "'i'", "'f'", INT ("to", "1")) "," \
  NODE ("Add", "'v','f'", "'w'", "") "," NODE ("Less", "'w','limit'", "'l'", "") "," \
  NODE ("And", "'l','c'", "'more'", "") \
  "]}}]}]}}"

static void
test_loop_of_one (void)
{
  const OnnxCase c = { "loop-of-one", LOOP_OF_ONE, "1", "1", "4" };   /* 1 + 0 + 1 + 2 */
  g_autofree char *json = g_strdelimit (g_strdup (c.model), "'", '"');
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_onnx_parse (json, strlen (json), NULL, &error), again = NULL;

  g_assert_no_error (error);
  onnx_case_run (&c, graph);
  again = write_and_read (graph);
  onnx_case_run (&c, again);
  for (guint i = 0; i < again->nodes->len; i++)
    {
      LptNode *node = g_ptr_array_index (again->nodes, i);

      if (node->op == LPT_OP_LOOP)
        g_assert_cmpint (lpt_node_in (node, 1)->shape.rank, ==, 0);   /* other runtimes ask for a scalar */
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/onnx-forms/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], onnx_case_test);
    }
  for (guint i = 0; i < G_N_ELEMENTS (read_only); i++)
    {
      g_autofree char *path = g_strconcat ("/onnx-forms/", read_only[i].name, NULL);

      g_test_add_data_func (path, &read_only[i], onnx_case_test_read);
    }
  g_test_add_func ("/onnx-forms/split-rest", test_split_rest);
  g_test_add_func ("/onnx-forms/index-types", test_index_types);
  g_test_add_func ("/onnx-forms/sorted-boxes", test_sorted_boxes);
  g_test_add_func ("/onnx-forms/wide-codes", test_wide_codes);
  g_test_add_func ("/onnx-forms/identity", test_identity);
  g_test_add_func ("/onnx-forms/loop-of-one", test_loop_of_one);
  return g_test_run ();
}
