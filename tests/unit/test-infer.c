/* test-infer.c - shape and type inference of every op
 *
 * A row is a text whose last statement says no type; what is inferred for it is
 * compared, or the error. Every row that succeeds is then inferred with unknown
 * dimensions: the result must be compatible with the one for known ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <string.h>

#include <lpt/lpt-attrs.h>
#include <lpt/lpt-text.h>

#define X(type) "%x = Parameter : " type "\n"
#define Y(type) "%y = Parameter : " type "\n"
#define FOREST(nodes, splits, weights, targets) \
  "%r = Parameter : i32[1]\n%n = Parameter : i32[" nodes "]\n%s = Parameter : f32[" splits "]\n" \
  "%t = Parameter : i32[2]\n%w = Parameter : f32[" weights "]\n" \
  "%o = TreeEnsemble(%x, %r, %n, %s, %t, %w) {n_targets=" targets "}"
#define LINEAR(q, k, v, state, decay) X ("f32[2," q "]") Y ("f32[2," k "]") Z ("f32[2," v "]") "%s = Parameter : f32[2," state "]\n%g = Parameter : f32[2,5," decay "]\n%b = Parameter : f32[2,5,1,1]\n"
#define LITE_LSTM(op) \
  X ("i8[2,5]") Y ("i8[7,5]") "%r = Parameter : i8[7,3]\n%p = Parameter : i8[3,7]\n%h = Parameter : i8[2,3]\n" \
  "%c = Parameter : i16[2,7]\n%o = " op "(%x, _, %y, %y, %y, _, %r, %r, %r, _, _, _, _, _, _, _, %p, _, %h, %c)"
#define ATTEND "%o = LinearAttention(%x, %y, %z, %s"
#define Z(type) "%z = Parameter : " type "\n"
#define I64(name, n, values) "%" name " = Const {" values "} : i64[" n "]\n"
#define S(name, value) I64 (name, "", value)
#define CONV "strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]"

typedef struct { const char *text, *expected; } Row;

static const Row rows[] =
{
  /* elementwise */
  { X ("f32[2,3]") Y ("f32[3]") "%o = Add(%x, %y)", "f32[2,3]" },
  { X ("f32[2,1,4]") Y ("f32[3,1]") "%o = Multiply(%x, %y)", "f32[2,3,4]" },
  { X ("f32[?,3]") Y ("f32[4,1]") "%o = Add(%x, %y)", "f32[4,3]" },
  { X ("f32[...]") Y ("f32[4,1]") "%o = Add(%x, %y)", "f32[...]" },
  { X ("f32[2,3]") Y ("f32[4,3]") "%o = Add(%x, %y)", "!inputs [2,3] and [4,3] do not broadcast" },
  { X ("f32[2,3]") Y ("f32[1,3]") "%o = Add(%x, %y) {auto_broadcast=none}", "!differ and auto_broadcast is none" },
  { X ("f32[2,3]") Y ("f16[2,3]") "%o = Add(%x, %y)", "!inputs 0 and 1 have different element types: f32 and f16" },
  { X ("u8[2,3]") Y ("i8[2,3]") "%o = Add(%x as f32, %y as f32) #{relaxed} : f32[2,3]", "f32[2,3]" },
  { X ("u8[2,3]") Y ("i8[2,3]") "%o = Add(%x as f32, %y as f32) #{relaxed} : boolean[2,3]",
    "!output 0 is boolean, but numbers are what it makes" },
  { X ("boolean[2]") Y ("boolean[2]") "%o = Add(%x, %y)", "!boolean" },
  { X ("f32[2,3]") Y ("f32[3]") "%o = Less(%x, %y)", "boolean[2,3]" },
  { X ("boolean[2,3]") Y ("boolean[3]") "%o = LogicalAnd(%x, %y)", "boolean[2,3]" },
  { X ("f32[2,3]") Y ("boolean[3]") "%o = LogicalAnd(%x, %y)", "!not boolean" },
  { X ("boolean[2,1]") Y ("f32[3]") Z ("f32[1,1,1]") "%o = Select(%x, %y, %z)", "f32[1,2,3]" },
  { X ("i32[2]") Y ("i32[2]") "%o = BitwiseXor(%x, %y)", "i32[2]" },
  { X ("f32[2]") "%o = BitwiseNot(%x)", "!bits of a real number" },
  { X ("f16[2,?]") "%o = Sigmoid(%x)", "f16[2,?]" },
  { X ("f32[2]") "%o = IsNaN(%x)", "boolean[2]" },
  { X ("f32[1,3,4,4]") Y ("f32[3]") "%o = PRelu(%x, %y)", "f32[1,3,4,4]" },
  { X ("f32[1,3,4,4]") Y ("f32[1,3,1,4]") "%o = PRelu(%x, %y)", "f32[1,3,4,4]" },
  { X ("f32[1,3,4,4]") Y ("f32[2]") "%o = PRelu(%x, %y)", "!the slope [2] does not broadcast to [1,3,4,4]" },
  { X ("f32[1,2,4,4]") Y ("f32[1,6,4,4]") "%o = PRelu(%x, %y)", "!does not broadcast" },
  { X ("f32[1,1,4,4]") Y ("f32[1,6,1,1]") "%o = PRelu(%x, %y)", "!does not broadcast" },
  { X ("f32[2]") "%o = GRN(%x) {bias=1}", "!rank" }, { X ("f32[2,3]") "%o = GRN(%x) {bias=1}", "f32[2,3]" },
  { X ("f32[1,3,4]") S ("a", "1") "%o = LRN(%x, %a) {alpha=1, beta=1, bias=1, size=3}", "f32[1,3,4]" },
  { X ("f32[1,3,4]") S ("a", "1") "%o = LRN(%x, %a) {alpha=1, beta=1, bias=1, size=0}", "!size is 0, must be at least 1" },
  { X ("boolean[2]") "%o = Quantize(%x) : u8[2] q{scale=1}", "!the input has type boolean, not a real type" },
  { X ("boolean[2]") "%o = Dequantize(%x) : f32[2]", "!the input has type boolean, not an integer type" },
  { X ("f32[2,3]") Y ("f32[1,1]") "%o = Swish(%x, %y)", "f32[2,3]" },
  { X ("f32[2,3]") Y ("f32[3]") "%o = Swish(%x, %y)", "!input 1 has 3 elements, not one" },
  { X ("f32[2,3]") Y ("f32[?,2]") "%o = Swish(%x, %y)", "!input 1 has 2 elements along axis 1, not one" },
  { X ("f32[2,3]") Y ("f32[]") Z ("f32[2]") "%o = Selu(%x, %y, %z)", "!input 2 has 2 elements, not one" },
  { X ("f32[2,3]") Y ("i8[1]") "%o = ConvertLike(%x, %y)", "i8[2,3]" },

  { X ("boolean[2,3]") "%o = LogicalNot(%x)", "boolean[2,3]" },
  { X ("u8[2,3]") "%o = BitwiseNot(%x)", "u8[2,3]" },

  /* signals */
  { X ("f32[2,5,6,2]") I64 ("a", "2", "1, -1") I64 ("s", "2", "7, -1") "%o = DFT(%x, %a, %s)", "f32[2,7,6,2]" },
  { X ("f16[2,?,6,2]") I64 ("a", "1", "1") "%o = IDFT(%x, %a)", "f16[2,?,6,2]" },
  { X ("f32[2,5,2]") Y ("i64[1]") "%o = DFT(%x, %y)", "f32[?,?,2]" },
  { X ("f32[2,5,3]") I64 ("a", "1", "0") "%o = DFT(%x, %a)", "!complex numbers need a last axis of length 2" },
  { X ("f32[2,5,2]") I64 ("a", "1", "2") "%o = DFT(%x, %a)", "!axis 2 is out of range" },
  { X ("f32[2,5,2]") I64 ("a", "2", "1, -1") "%o = DFT(%x, %a)", "!stands in the list twice" },
  { X ("f32[2,5,2]") I64 ("a", "1", "1") I64 ("s", "1", "-3") "%o = DFT(%x, %a, %s)", "!size -3 for axis 1" },
  { X ("f32[2,5,2]") I64 ("a", "1", "1") I64 ("s", "2", "4, 4") "%o = DFT(%x, %a, %s)", "!1 axes with 2 sizes" },
  { X ("i32[2,5,2]") I64 ("a", "1", "1") "%o = DFT(%x, %a)", "!not a real type" },
  { X ("f32[2,5,6]") I64 ("a", "2", "0, 2") "%o = RDFT(%x, %a)", "f32[2,5,4,2]" },
  { X ("f32[2,5,6]") I64 ("a", "2", "2, 1") I64 ("s", "2", "9, 8") "%o = RDFT(%x, %a, %s)", "f32[2,5,9,2]" },
  { X ("f32[1,161,161,2]") I64 ("a", "2", "1, 2") "%o = IRDFT(%x, %a)", "f32[1,161,320]" },
  { X ("f32[1,161,161,2]") I64 ("a", "2", "1, 2") I64 ("s", "2", "512, 100") "%o = IRDFT(%x, %a, %s)", "f32[1,512,100]" },
  { X ("f32[1,1,2]") I64 ("a", "1", "1") "%o = IRDFT(%x, %a)", "!a transform of length 0" },
  { X ("f32[3,56]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = STFT(%x, %y, %n, %s) {transpose_frames=false}", "f32[3,16,6,2]" },
  { X ("f32[?]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = STFT(%x, %y, %n, %s) {transpose_frames=true}", "f32[6,?,2]" },
  { X ("f32[9]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = STFT(%x, %y, %n, %s) {transpose_frames=false}", "!the signal has 9 elements, a frame 11" },
  { X ("f32[56]") Y ("f32[17]") S ("n", "11") S ("s", "3") "%o = STFT(%x, %y, %n, %s) {transpose_frames=false}", "!the window has 17 elements, the frame 11" },
  { X ("f32[56]") Y ("f32[7]") S ("n", "11") S ("s", "0") "%o = STFT(%x, %y, %n, %s) {transpose_frames=false}", "!frame_step is 0" },
  { X ("f32[4,6,16,2]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = ISTFT(%x, %y, %n, %s) {center=false, normalized=false}", "f32[4,56]" },
  { X ("f32[6,16,2]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = ISTFT(%x, %y, %n, %s) {center=true, normalized=true}", "f32[45]" },
  { X ("f32[6,16,2]") Y ("f32[7]") S ("n", "11") S ("s", "3") S ("l", "64") "%o = ISTFT(%x, %y, %n, %s, %l) {center=true, normalized=true}", "f32[64]" },
  { X ("f32[5,16,2]") Y ("f32[7]") S ("n", "11") S ("s", "3") "%o = ISTFT(%x, %y, %n, %s) {center=true, normalized=true}", "!5 frequencies" },

  /* trees */
  { X ("f32[?,5]") FOREST ("3,4", "3", "2", "7"), "f32[?,7]" },
  { X ("i64[6,5]") FOREST ("3,4", "3", "2", "1"), "f32[6,1]" },
  { X ("f32[5]") FOREST ("3,4", "3", "2", "1"), "!rank" },
  { X ("f32[6,5]") FOREST ("3,4", "3", "2", "0"), "!n_targets is 0" },
  { X ("f32[6,5]") FOREST ("3,5", "3", "2", "1"), "!nodes have 5 columns" },
  { X ("f32[6,5]") FOREST ("3,4", "4", "2", "1"), "!inputs 3 and 2 have 4 and 3 rows" },
  { X ("f32[6,5]") FOREST ("3,4", "3", "3", "1"), "!inputs 4 and 5 have 2 and 3 rows" },
  { X ("f32[?,6]") "%o = PairCoupling(%x)", "f32[?,4]" },
  { X ("f32[3,1]") "%o = PairCoupling(%x)", "f32[3,2]" },
  { X ("f32[3,?]") "%o = PairCoupling(%x)", "f32[3,?]" },
  { X ("f32[3,5]") "%o = PairCoupling(%x)", "!5 are not the pairs" },

  /* linear attention */
  { LINEAR ("?,4,8", "5,1,8", "5,2,6", "2,8,6", "2,1") ATTEND ")", "f32[2,5,4,6], f32[2,2,8,6]" },
  { LINEAR ("5,1,8", "5,2,8", "5,4,6", "4,8,?", "4,8") ATTEND ", %g, %b)", "f32[2,5,4,6], f32[2,4,8,6]" },
  { LINEAR ("5,4,8", "5,4,8", "5,4,6", "4,8,6", "4,7") ATTEND ", %g)", "!input 4 does not" },
  { LINEAR ("5,4,8", "5,4,8", "5,4,6", "4,8,6", "4,8") ATTEND ", _, %g)", "!input 5 does not" },
  { LINEAR ("5,3,8", "5,2,8", "5,2,6", "2,8,6", "2,1") ATTEND ")", "!3 heads of queries for 2" },
  { LINEAR ("5,2,8", "5,4,8", "5,2,6", "2,8,6", "2,1") ATTEND ")", "!4 heads of keys for 2" },
  { LINEAR ("5,2,8", "5,2,9", "5,2,6", "2,8,6", "2,1") ATTEND ")", "!input 1 has 9 along axis 3" },

  /* bags, segments, sorted sequences */
  { X ("f32[5,2,3]") Y ("i64[6]") Z ("i64[4]") "%o = EmbeddingBagOffsets(%x, %y, %z)", "f32[4,2,3]" },
  { X ("f32[5,2]") Y ("i32[?]") Z ("i32[?]") "%o = EmbeddingBagOffsetsSum(%x, %y, %z)", "f32[?,2]" },
  { X ("f32[5,2]") Y ("f32[6]") Z ("i64[4]") "%o = EmbeddingBagOffsets(%x, %y, %z)", "!indices" },
  { X ("f32[5,2]") Y ("i64[6]") Z ("i64[4]") S ("d", "0") "%w = Parameter : f32[5]\n%o = EmbeddingBagOffsets(%x, %y, %z, %d, %w)",
    "!per_sample_weights [5] do not fit indices [6]" },
  { X ("f32[5,2]") Y ("i64[6]") Z ("i64[4]") S ("d", "0") "%w = Parameter : f32[6]\n%o = EmbeddingBagOffsets(%x, %y, %z, %d, %w) {reduction=mean}",
    "!a mean with per_sample_weights" },
  { X ("f32[5,2]") Y ("i64[3,2]") "%o = EmbeddingBagPacked(%x, %y)", "f32[3,2]" },
  { X ("f32[5,2]") Y ("i64[3,2]") Z ("f32[3,2]") "%o = EmbeddingBagPackedSum(%x, %y, %z)", "f32[3,2]" },
  { X ("f32[5,2]") Y ("i64[3]") "%o = EmbeddingBagPacked(%x, %y)", "!rank" },
  { X ("f32[5,2]") Y ("i64[6]") Z ("i64[6]") S ("n", "4") "%o = EmbeddingSegmentsSum(%x, %y, %z, %n)", "f32[4,2]" },
  { X ("f32[5,2]") Y ("i64[6]") Z ("i64[6]") "%n = Parameter : i64[]\n%o = EmbeddingSegmentsSum(%x, %y, %z, %n)", "f32[?,2]" },
  { X ("f32[5,2]") Y ("i64[6]") Z ("i64[5]") S ("n", "4") "%o = EmbeddingSegmentsSum(%x, %y, %z, %n)", "!differ in length" },
  { X ("f32[4,2]") I64 ("y", "4", "0, 0, 2, 5") "%o = SegmentMax(%x, %y) {fill_mode=ZERO}", "f32[6,2]" },
  { X ("f32[4,2]") Y ("i64[4]") "%o = SegmentMax(%x, %y) {fill_mode=LOWEST}", "f32[?,2]" },
  { X ("f32[4,2]") Y ("i64[4]") S ("n", "3") "%o = SegmentMax(%x, %y, %n) {fill_mode=LOWEST}", "f32[3,2]" },
  { X ("f32[4,2]") Y ("i64[5]") "%o = SegmentMax(%x, %y) {fill_mode=LOWEST}", "!5 segment_ids for 4 rows" },
  { X ("f32[2,5]") Y ("f32[2,4]") "%o = SearchSorted(%x, %y)", "i64[2,4]" },
  { X ("i32[5]") Y ("i32[2,4]") "%o = SearchSorted(%x, %y) {right_mode=true, output_type=i32}", "i32[2,4]" },
  { X ("f32[2,5]") Y ("f32[3,4]") "%o = SearchSorted(%x, %y)", "!sequences [2,5] do not fit values [3,4]" },

  /* slices, windows, attention */
  { X ("f32[3,5]") Y ("f32[2,5]") I64 ("a", "1", "0") I64 ("b", "1", "2") I64 ("c", "1", "1") "%o = SliceScatter(%x, %y, %a, %b, %c)", "f32[3,5]" },
  { X ("f32[3,5]") Y ("f32[2]") I64 ("a", "1", "0") I64 ("b", "1", "2") I64 ("c", "1", "1") "%o = SliceScatter(%x, %y, %a, %b, %c)",
    "!updates [2] do not fit data [3,5]" },
  { X ("f32[3,5]") Y ("f32[2,5]") I64 ("a", "1", "0") I64 ("b", "2", "2, 2") I64 ("c", "1", "1") "%o = SliceScatter(%x, %y, %a, %b, %c)",
    "!differ in length" },
  { X ("f32[3,12,225]") I64 ("a", "2", "16, 16") I64 ("b", "2", "2, 2") "%o = Col2Im(%x, %a, %b)", "f32[3,3,16,16]" },
  { X ("f32[27,25]") I64 ("a", "2", "16, 16") I64 ("b", "2", "3, 3")
    "%o = Col2Im(%x, %a, %b) {strides=[3,3], dilations=[2,2], pads_begin=[1,1], pads_end=[1,1]}", "f32[3,16,16]" },
  { X ("f32[3,13,225]") I64 ("a", "2", "16, 16") I64 ("b", "2", "2, 2") "%o = Col2Im(%x, %a, %b)", "!are not whole windows of 2 by 2" },
  { X ("f32[3,12,224]") I64 ("a", "2", "16, 16") I64 ("b", "2", "2, 2") "%o = Col2Im(%x, %a, %b)", "!224 blocks where output_size has 225 windows" },
  { X ("f32[?,12,?]") Y ("i64[2]") I64 ("b", "2", "2, 2") "%o = Col2Im(%x, %y, %b)", "f32[?,3,?,?]" },
  { X ("f32[2,8,3,5]") Y ("f32[2,1,4,5]") Z ("f32[1,1,4,2]") "%o = ScaledDotProductAttention(%x, %y, %z) {causal=false}", "f32[2,8,3,2]" },
  { X ("f16[2,?,5]") Y ("f16[2,4,5]") Z ("f16[2,4,2]") "%o = ScaledDotProductAttention(%x, %y, %z) {causal=true}", "f16[2,?,2]" },
  { X ("f32[2,3,5]") Y ("f32[2,4,6]") Z ("f32[2,4,2]") "%o = ScaledDotProductAttention(%x, %y, %z) {causal=false}", "!do not fit" },
  { X ("f32[2,3,5]") Y ("f32[2,4,5]") Z ("f32[2,4,2]") "%m = Parameter : boolean[3,4]\n%o = ScaledDotProductAttention(%x, %y, %z, %m) {causal=false}", "f32[2,3,2]" },
  { X ("f32[2,3,5]") Y ("f32[2,4,5]") Z ("f32[2,4,2]") "%m = Parameter : f32[5,4]\n%o = ScaledDotProductAttention(%x, %y, %z, %m) {causal=false}",
    "!the mask [5,4] does not broadcast to [2,3,4]" },
  { X ("f32[2,3,5]") Y ("f32[2,4,5]") Z ("f32[2,4,2]") "%m = Parameter : i32[3,4]\n%o = ScaledDotProductAttention(%x, %y, %z, %m) {causal=false}",
    "!the mask has type i32" },
  { X ("f32[2,?]") "%o = Identity(%x)", "f32[2,?]" },

  /* quantization */
  { X ("f32[1,3,4,4]") Y ("f32[1,3,1,1]") "%o = FakeQuantize(%x, %y, %y, %y, %y) {levels=256}", "f32[1,3,4,4]" },
  { X ("f32[1,3,4,4]") Y ("f32[1,2,1,1]") "%o = FakeQuantize(%x, %y, %y, %y, %y) {levels=256}", "!does not broadcast" },
  { X ("f32[1,3,4,4]") Y ("f32[]") "%o = FakeQuantize(%x, %y, %y, %y, %y) {levels=1}", "!levels is 1, less than 2" },
  { X ("u8[1,3]") Y ("u8[]") "%o = FakeQuantize(%x, %y, %y, %y, %y) {levels=4}", "!not a real type" },
  { X ("f32[1,3]") "%o = Quantize(%x) {type=u8}", "u8[1,3]" },
  { X ("u8[1,3]") "%o = Dequantize(%x)", "f32[1,3]" },
  { X ("u8[1,3]") "%o = Quantize(%x) {type=u8}", "!not a real type" },
  { X ("u8[1,3]") "%o = Dequantize(%x) {type=u8}", "!the output has type u8, not a real type" },
  { X ("u8[1,3]") "%o = Requantize(%x) {type=i8}", "i8[1,3]" },
  { X ("u8[1,3]") "%o = Requantize(%x) {type=f32}", "!the output has type f32, not an integer type" },
  { X ("u8[1,3]") "%o = Reinterpret(%x)", "u8[1,3]" },
  { X ("u8[1,3]") "%o = Reinterpret(%x) {type=i8}", "!the same bytes cannot be u8 and i8" },
  { X ("u8[1,3]") "%o = Reinterpret(%x) {type=i8}", "!cannot be u8 and i8" },
  { X ("f32[1,3]") "%o = Table(%x) {function=\"Tanh\"}", "!not an 8-bit type" },

  { X ("u8[1,3]") "%o = Table(%x) {function=\"Tanh\"}", "u8[1,3]" },

  /* convolutions */
  { X ("f32[1,3,32,32]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}", "f32[1,8,16,16]" },
  { X ("f32[?,3,?,32]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "f32[?,8,?,30]" },
  { X ("f32[...]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "f32[?,8,?,?]" },
  { X ("f32[...]") Y ("f32[...]") "%o = Convolution(%x, %y) {" CONV "}", "f32[?,?,?,?]" },
  { X ("f32[1,3,7]") Y ("f32[8,3,3]") "%o = Convolution(%x, %y) {strides=[2], dilations=[2], auto_pad=same_upper}", "f32[1,8,4]" },
  { X ("f32[1,3,9,9]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {strides=[2,2], auto_pad=valid, pads_begin=[9,9], pads_end=[9,9]}", "f32[1,8,4,4]" },
  { X ("f32[1,3,2,2]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "!kernel 3 does not fit input 2 with padding 0 and 0 along spatial axis 0" },
  { X ("f32[1,3,4,4]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {strides=[1,1], dilations=[2,2]}", "!kernel 3 (dilated to 5) does not fit input 4" },
  { X ("f32[1,4,8,8]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "!data has 4 channels, the weights take 3" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {strides=[0,1]}", "!strides has the value 0" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {dilations=[1,-1]}", "!dilations has the value -1" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {strides=[1,1,1]}", "!strides has 3 values for 2 spatial axes" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "!weights of rank 5 do not fit data of rank 4" },
  { X ("f32[1,3]") Y ("f32[8,3]") "%o = Convolution(%x, %y)", "!no spatial axis" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,3,3]") "%o = Convolution(%x, %y) {pads_begin=[9223372036854775807,0], pads_end=[1,0]}", "!overflow" },
  { X ("f32[1,3,8,8]") Y ("f32[8,3,0,3]") "%o = Convolution(%x, %y)", "!kernel has length 0" },
  { X ("u8[1,3,8,8]") Y ("i8[8,3,3,3]") "%o = Convolution(%x, %y) {" CONV "}", "!different element types" },
  { "graph {lowered=true}\n" X ("u8[1,3,8,8]") Y ("i8[8,3,1,1]") Z ("i32[8]") "%o = Convolution(%x, %y, %z) {" CONV "} : i32[1,8,8,8] q{scale=0.5}", "i32[1,8,8,8]" },
  { "graph {lowered=true}\n" X ("u8[1,3,8,8]") Y ("i8[8,3,1,1]") Z ("i32[7]") "%o = Convolution(%x, %y, %z) {" CONV "} : i32[1,8,8,8] q{scale=0.5}", "!bias has 7 values for 8 output channels" },
  { X ("f32[1,6,8,8]") Y ("f32[3,4,2,3,3]") "%o = GroupConvolution(%x, %y) {" CONV "}", "f32[1,12,6,6]" },
  { X ("f32[1,5,8,8]") Y ("f32[3,4,2,3,3]") "%o = GroupConvolution(%x, %y) {" CONV "}", "!data has 5 channels, the weights take 6" },
  { X ("f32[1,8,4,4]") Y ("f32[8,3,3,3]") "%o = ConvolutionBackpropData(%x, %y) {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1], output_padding=[1,1]}", "f32[1,3,8,8]" },
  { X ("f32[1,8,4,4]") Y ("f32[8,3,3,3]") I64 ("s", "2", "9, 7") "%o = ConvolutionBackpropData(%x, %y, %s) {strides=[2,2], dilations=[1,1], auto_pad=same_upper}", "f32[1,3,9,7]" },
  { X ("f32[1,8,4,4]") Y ("f32[8,3,3,3]") I64 ("s", "1", "9") "%o = ConvolutionBackpropData(%x, %y, %s) {strides=[2,2]}", "!output shape has 1 values for 2 spatial axes" },
  { X ("f32[1,8,4,4]") Y ("f32[8,3,3,3]") "%o = ConvolutionBackpropData(%x, %y) {strides=[1,1], pads_begin=[3,3], pads_end=[3,3]}", "!leaves nothing of the output" },
  { X ("f32[1,6,4,4]") Y ("f32[2,3,5,3,3]") "%o = GroupConvolutionBackpropData(%x, %y) {strides=[1,1], dilations=[1,1]}", "f32[1,10,6,6]" },
  { X ("f32[1,4,8,8]") Y ("f32[1,18,6,6]") Z ("f32[5,4,3,3]") "%o = DeformableConvolution(%x, %y, %z) {" CONV "}", "f32[1,5,6,6]" },

  /* pools */
  { X ("f32[1,3,150,150]") "%o = MaxPool@1(%x) {kernel=[3,3], strides=[2,2], pads_begin=[0,0], pads_end=[0,0], rounding_type=ceil}", "f32[1,3,75,75]" },
  { X ("f32[1,3,7,7]") "%o = MaxPool@8(%x) {kernel=[3,3], strides=[2,2]} : f32[1,3,3,3], i64[1,3,3,3]", "f32[1,3,3,3], i64[1,3,3,3]" },
  { X ("f32[1,3,5,5]") "%o = AvgPool@14(%x) {kernel=[2,2], strides=[3,3], pads_begin=[1,1], pads_end=[1,1], exclude-pad=false, rounding_type=ceil_torch}", "f32[1,3,2,2]" },
  { X ("f32[1,3,4,4]") "%o = AvgPool@14(%x) {kernel=[1,1], strides=[3,3], pads_end=[2,2], exclude-pad=false, rounding_type=ceil}", "f32[1,3,3,3]" },
  { X ("f32[1,3,4,4]") "%o = AvgPool@14(%x) {kernel=[1,1], strides=[3,3], pads_end=[1,1], exclude-pad=false, rounding_type=ceil_torch}", "f32[1,3,2,2]" },
  { X ("f32[1,3,7,7]") "%o = AvgPool@1(%x) {kernel=[2,2], strides=[1,1], pads_begin=[2,2], pads_end=[0,0], exclude-pad=true}", "!lies in the padding alone" },
  { X ("f32[1,3,7,7]") "%o = MaxPool(%x) {kernel=[0,2], strides=[1,1]}", "!kernel has the value 0" },
  { X ("f32[1,3,7,7]") "%o = MaxPool(%x) {strides=[1,1]}", "!kernel has 0 values" },
  { X ("f32[1,3,7,7]") I64 ("s", "2", "2, 3") "%o = AdaptiveAvgPool(%x, %s)", "f32[1,3,2,3]" },
  { X ("f32[1,3,7,7]") I64 ("s", "2", "2, 3") "%o = AdaptiveMaxPool(%x, %s)", "f32[1,3,2,3], i64[1,3,2,3]" },

  /* products */
  { X ("f32[2,3,4]") Y ("f32[4,5]") "%o = MatMul(%x, %y)", "f32[2,3,5]" },
  { X ("f32[4,3]") Y ("f32[5,4]") "%o = MatMul(%x, %y) {transpose_a=true, transpose_b=true}", "f32[3,5]" },
  { X ("f32[4]") Y ("f32[4]") "%o = MatMul(%x, %y)", "f32[]" },
  { X ("f32[4]") Y ("f32[2,4,5]") "%o = MatMul(%x, %y) {transpose_a=true}", "f32[2,5]" },
  { X ("f32[3,1,2,4]") Y ("f32[5,4,6]") "%o = MatMul(%x, %y)", "f32[3,5,2,6]" },
  { X ("f32[2,3]") Y ("f32[4,5]") "%o = MatMul(%x, %y)", "![2,3] and [4,5] do not multiply: 3 columns and 4 rows" },
  { X ("f32[2,3,4]") Y ("f32[3,4,5]") "%o = MatMul(%x, %y)", "!leading axes [2] and [3] do not broadcast" },
  { X ("f32[?,3]") Y ("f32[...]") "%o = MatMul(%x, %y)", "f32[...]" },
  { X ("f32[]") Y ("f32[4]") "%o = MatMul(%x, %y)", "!input 0 is a scalar" },
  { X ("f32[2,3,4]") Y ("f32[4,5]") "%o = Einsum(%x, %y) {equation=\"abc,cd->adb\"}", "f32[2,5,3]" },
  { X ("f32[2,3,4]") Y ("f32[1,4,5]") "%o = Einsum(%x, %y) {equation=\"...ij,...jk\"}", "f32[2,3,5]" },
  { X ("f32[3,3]") "%o = Einsum(%x) {equation=\"ii\"}", "f32[]" },
  { X ("f32[2,3]") Y ("f32[4,5]") "%o = Einsum(%x, %y) {equation=\"ab,bc->ac\"}", "!axis 'b' has lengths 3 and 4" },
  { X ("f32[2,3]") "%o = Einsum(%x) {equation=\"abc->a\"}", "!input 0 has rank 2, its term of the equation 3 letters" },
  { X ("f32[2,3]") "%o = Einsum(%x) {equation=\"ab,bc->a\"}", "!does not have 1 terms" },

  /* reductions, normalisation */
  { X ("f32[2,3,4]") I64 ("a", "2", "-1, 0") "%o = ReduceMean(%x, %a)", "f32[3]" },
  { X ("f32[2,3,4]") I64 ("a", "2", "-1, 0") "%o = ReduceMax(%x, %a) {keep_dims=true}", "f32[1,3,1]" },
  { X ("f32[2,3,4]") Y ("i64[?]") "%o = ReduceSum(%x, %y) {keep_dims=true}", "f32[?,?,?]" },
  { X ("f32[2,3,4]") Y ("i64[?]") "%o = ReduceSum(%x, %y)", "f32[...]" },
  { X ("f32[2,3,4]") S ("a", "3") "%o = ReduceSum(%x, %a)", "!axis 3 is out of range for rank 3" },
  { X ("f32[2,3,4]") Y ("f32[1]") "%o = ReduceSum(%x, %y)", "!not an integer type" },
  { X ("boolean[2,3]") S ("a", "1") "%o = ReduceLogicalOr(%x, %a)", "boolean[2]" },
  { X ("f32[2,3]") "%o = ArgMax(%x) {axis=1, keep_dims=false}", "i64[2]" },
  { X ("f32[2,3]") S ("a", "-2") "%o = CumSum(%x, %a)", "f32[2,3]" },
  { X ("f32[2,3]") "%o = Softmax(%x) {axis=-1}", "f32[2,3]" },
  { X ("f32[2,3]") "%o = Softmax(%x) {axis=2}", "!axis 2 is out of range for rank 2" },
  { X ("f32[2,3,4]") I64 ("a", "1", "5") "%o = MVN(%x, %a) {eps=1e-6, normalize_variance=true, eps_mode=inside_sqrt}", "!axis 5 is out of range" },
  { X ("f32[2,3,4]") Y ("f32[3]") "%o = BatchNormInference(%x, %y, %y, %y, %y) {epsilon=0.1}", "f32[2,3,4]" },
  { X ("f32[3]") Y ("f32[2,3,4]") "%o = BatchNormInference@1(%x, %x, %y, %x, %x) {epsilon=0.1}", "f32[2,3,4]" },
  { X ("f32[2,6,4]") Y ("f32[6]") "%o = GroupNormalization(%x, %y, %y) {num_groups=4, epsilon=0.1}", "!4 groups do not divide 6 channels" },

  { X ("f32[2,6,4]") Y ("f32[6]") "%o = GroupNormalization(%x, %y, %y) {num_groups=3, epsilon=0.1}", "f32[2,6,4]" },

  /* shapes */
  { X ("f32[2,3,4]") I64 ("s", "2", "0, -1") "%o = Reshape(%x, %s)", "f32[2,12]" },
  { X ("f32[?,3,4]") I64 ("s", "2", "0, -1") "%o = Reshape(%x, %s)", "f32[?,12]" },
  { X ("f32[?,3,4]") I64 ("s", "2", "-1, 12") "%o = Reshape(%x, %s)", "f32[?,12]" },
  { X ("f32[2,3]") I64 ("s", "2", "3, 2") "%o = Reshape(%x, %s) {special_zero=false}", "f32[3,2]" },
  { X ("f32[0,3]") I64 ("s", "2", "0, 7") "%o = Reshape(%x, %s) {special_zero=false}", "f32[0,7]" },
  { X ("f32[2,3]") I64 ("s", "2", "4, 2") "%o = Reshape(%x, %s)", "![2,3] does not reshape to [4,2]" },
  { X ("f32[2,3]") I64 ("s", "2", "-1, 4") "%o = Reshape(%x, %s)", "![2,3] does not reshape to [-1,4]" },
  { X ("f32[2,3]") I64 ("s", "2", "-1, -1") "%o = Reshape(%x, %s)", "!-1 twice" },
  { X ("f32[2,3]") I64 ("s", "3", "2, 3, 0") "%o = Reshape(%x, %s)", "!0 copies axis 2 of an input of rank 2" },
  { X ("f32[2,3]") I64 ("s", "2", "-2, 3") "%o = Reshape(%x, %s)", "!value -2" },
  { X ("f32[2,3]") I64 ("s", "3", "1152921504606846976, 1152921504606846976, 0") "%o = Reshape(%x, %s) {special_zero=false}", "!does not reshape" },
  { X ("f32[2,3]") Y ("i64[4]") "%o = Reshape(%x, %y)", "f32[?,?,?,?]" },
  { X ("f32[2,3]") Y ("i64[?]") "%o = Reshape(%x, %y)", "f32[...]" },
  { X ("f32[1,2,1,3]") "%o = Squeeze(%x)", "f32[2,3]" },
  { X ("f32[1,2,1,3]") I64 ("a", "1", "-2") "%o = Squeeze(%x, %a)", "f32[1,2,3]" },
  { X ("f32[1,2]") S ("a", "1") "%o = Squeeze@1(%x, %a)", "!axis 1 has length 2, not 1" },
  { X ("f32[1,2]") S ("a", "1") "%o = Squeeze(%x, %a)", "f32[1,2]" },
  { X ("f32[1,?]") "%o = Squeeze(%x)", "f32[...]" },
  { X ("f32[2,3]") I64 ("a", "2", "0, -1") "%o = Unsqueeze(%x, %a)", "f32[1,2,3,1]" },
  { X ("f32[2,3]") I64 ("a", "2", "0, 0") "%o = Unsqueeze(%x, %a)", "!an axis stands twice" },
  { X ("f32[1,1,1,1,1,1,1,1,1,1]") S ("a", "0") "%o = Unsqueeze(%x, %a)", "!unsupported rank" },
  { X ("f32[2,3,4]") I64 ("a", "3", "2, 0, 1") "%o = Transpose(%x, %a)", "f32[4,2,3]" },
  { X ("f32[2,3,4]") I64 ("a", "0", "") "%o = Transpose(%x, %a)", "f32[4,3,2]" },
  { X ("f32[2,3,4]") I64 ("a", "3", "2, 0, 0") "%o = Transpose(%x, %a)", "!0 stands twice" },
  { X ("f32[2,3,4]") I64 ("a", "2", "1, 0") "%o = Transpose(%x, %a)", "!order has 2 values for rank 3" },
  { X ("f32[2,3]") Y ("f32[2,?]") "%o = Concat(%x, %y) {axis=1}", "f32[2,?]" },
  { X ("f32[?,3]") Y ("f32[2,5]") "%o = Concat(%x, %y) {axis=-1}", "f32[2,8]" },
  { X ("f32[2,3]") Y ("f32[4,3]") "%o = Concat(%x, %y) {axis=1}", "!inputs 0 [2,3] and 1 [4,3] do not join along axis 1" },
  { X ("f32[9223372036854775807]") "%o = Concat(%x, %x) {axis=0}", "!overflows" },
  { X ("f32[2,6]") S ("a", "1") "%o = Split(%x, %a) {num_splits=3} : f32[2,2], f32[2,2], f32[2,2]", "f32[2,2], f32[2,2], f32[2,2]" },
  { X ("f32[2,7]") S ("a", "1") "%o = Split(%x, %a) {num_splits=3}", "!axis 1 of length 7 has no 3 equal parts" },
  { X ("f32[2,7]") S ("a", "1") I64 ("l", "3", "1, -1, 2") "%o = VariadicSplit(%x, %a, %l) : f32[?,?], f32[?,?], f32[?,?]", "f32[2,1], f32[2,4], f32[2,2]" },
  { X ("f32[2,7]") S ("a", "1") I64 ("l", "2", "1, 2") "%o = VariadicSplit(%x, %a, %l) : f32[?,?], f32[?,?]", "!lengths sum to 3, axis 1 has length 7" },

  /* slices */
  { X ("f32[1,10,8]") I64 ("b", "3", "0, 1, -3") I64 ("e", "3", "1, 9, 8") I64 ("s", "3", "1, 2, 1") "%o = StridedSlice(%x, %b, %e, %s) {begin_mask=[1,0,0], end_mask=[1,0,0]}", "f32[1,4,3]" },
  { X ("f32[5,10]") I64 ("b", "2", "0, 2") I64 ("e", "2", "0, 3") "%o = StridedSlice(%x, %b, %e) {begin_mask=[1,0], end_mask=[1,0], shrink_axis_mask=[0,1]}", "f32[5]" },
  { X ("f32[5,10]") I64 ("b", "2", "0, 12") I64 ("e", "2", "0, 3") "%o = StridedSlice(%x, %b, %e) {begin_mask=[1,0], end_mask=[1,0], shrink_axis_mask=[0,1]}", "!index 12 is out of range for axis 1 of length 10" },
  { X ("f32[2,3,4,5]") I64 ("b", "3", "1, 0, 1") I64 ("e", "3", "2, 0, 3") "%o = StridedSlice(%x, %b, %e) {begin_mask=[], end_mask=[], ellipsis_mask=[0,1]}", "f32[1,3,4,2]" },
  { X ("f32[2,3]") I64 ("b", "2", "0, 0") I64 ("e", "2", "0, 0") "%o = StridedSlice(%x, %b, %e) {begin_mask=[1,1], end_mask=[1,1], new_axis_mask=[1]}", "f32[1,2,3]" },
  { X ("f32[6]") I64 ("b", "1", "5") I64 ("e", "1", "-7") I64 ("s", "1", "-2") "%o = StridedSlice(%x, %b, %e, %s) {begin_mask=[0], end_mask=[0]}", "f32[3]" },
  { X ("f32[6]") I64 ("b", "1", "5") I64 ("e", "1", "-7") I64 ("s", "1", "0") "%o = StridedSlice(%x, %b, %e, %s)", "!step 0 along axis 0" },
  { X ("f32[?,6]") I64 ("b", "2", "0, 1") I64 ("e", "2", "0, 4") "%o = StridedSlice(%x, %b, %e) {begin_mask=[1,0], end_mask=[1,0]}", "f32[?,3]" },
  { X ("f32[6]") I64 ("b", "2", "0, 0") I64 ("e", "2", "1, 1") "%o = StridedSlice(%x, %b, %e)", "!slice of 2 axes of an input of rank 1" },
  { X ("f32[5,10]") I64 ("b", "1", "-9223372036854775808") I64 ("e", "1", "9223372036854775807") I64 ("s", "1", "3") I64 ("a", "1", "-1") "%o = Slice(%x, %b, %e, %s, %a)", "f32[5,4]" },
  { X ("f32[5,10]") I64 ("b", "1", "9223372036854775807") I64 ("e", "1", "-9223372036854775808") I64 ("s", "1", "-9223372036854775807") I64 ("a", "1", "1") "%o = Slice(%x, %b, %e, %s, %a)", "f32[5,1]" },
  { X ("f32[5,10]") I64 ("b", "2", "1, 1") I64 ("e", "2", "3, 3") I64 ("s", "2", "1, 1") I64 ("a", "2", "1, 1") "%o = Slice(%x, %b, %e, %s, %a)", "!axis 1 is sliced twice" },

  /* indices */
  { X ("f32[4,5,6]") Y ("i64[2,3]") S ("a", "1") "%o = Gather(%x, %y, %a)", "f32[4,2,3,6]" },
  { X ("f32[4,5,6]") Y ("i64[4,3]") S ("a", "1") "%o = Gather(%x, %y, %a) {batch_dims=1}", "f32[4,3,6]" },
  { X ("f32[4,5,6]") Y ("i64[5,3]") S ("a", "1") "%o = Gather(%x, %y, %a) {batch_dims=1}", "!batch axis 0 has lengths 4 and 5" },
  { X ("f32[4,5,6]") S ("i", "0") S ("a", "3") "%o = Gather(%x, %i, %a)", "!axis 3 is out of range for rank 3" },
  { X ("f32[4,5]") Y ("i64[4,9]") "%o = GatherElements(%x, %y) {axis=1}", "f32[4,9]" },
  { X ("f32[4,5,6]") Y ("i64[7,2]") "%o = GatherND(%x, %y)", "f32[7,6]" },
  { X ("f32[2,3,4,5]") Y ("i64[2,3,7,1]") "%o = GatherND(%x, %y) {batch_dims=2}", "f32[2,3,7,5]" },
  { X ("f32[2,3,4,5]") Y ("i64[2,3,7,1]") "%o = GatherND@5(%x, %y) {batch_dims=2}", "f32[6,7,5]" },
  { X ("f32[4,5]") Y ("i64[2]") Z ("f32[2,5]") S ("a", "0") "%o = ScatterUpdate(%x, %y, %z, %a)", "f32[4,5]" },
  { X ("f32[4,5]") Y ("i64[2,3]") Z ("f32[2,4]") S ("a", "0") "%o = ScatterElementsUpdate(%x, %y, %z, %a)", "!indices [2,3] and updates [2,4] differ" },
  { X ("f32[4,5]") Y ("i64[7,3]") Z ("f32[7]") "%o = ScatterNDUpdate(%x, %y, %z)", "!tuples of 3 indices for 2 axes" },

  /* movement */
  { X ("f32[3,1]") I64 ("s", "3", "2, 3, 4") "%o = Broadcast(%x, %s)", "f32[2,3,4]" },
  { X ("f32[3]") I64 ("s", "2", "3, 4") "%o = Broadcast(%x, %s)", "![3] does not broadcast to [3,4]" },
  { X ("f32[3]") I64 ("s", "2", "3, 4") S ("a", "0") "%o = Broadcast(%x, %s, %a) {mode=explicit}", "f32[3,4]" },
  { X ("f32[3,4]") I64 ("s", "2", "1, 4") "%o = Broadcast(%x, %s) {mode=bidirectional}", "f32[3,4]" },
  { X ("f32[3,4]") I64 ("s", "3", "2, 1, 2") "%o = Tile(%x, %s)", "f32[2,3,8]" },
  { X ("f32[3,4]") I64 ("s", "2", "9223372036854775807, 2") "%o = Tile(%x, %s)", "!overflows" },
  { X ("f32[4611686018427387904,1]") I64 ("s", "2", "1, 4611686018427387904") "%o = Tile(%x, %s)", "!more than 2^63 elements" },
  { X ("f32[3,4]") I64 ("b", "2", "1, 0") I64 ("e", "2", "2, 3") "%o = Pad(%x, %b, %e) {pad_mode=constant}", "f32[6,7]" },
  { X ("f32[3,4]") I64 ("b", "2", "1, 0") "%o = Pad(%x, %b, %b, %x) {pad_mode=constant}", "!pad value is not one" },
  { X ("f32[3,4]") I64 ("b", "2", "1, 0") I64 ("e", "2", "3, 3") "%o = Pad(%x, %b, %e) {pad_mode=reflect}", "!too long to reflect" },
  { X ("f32[3,4]") I64 ("b", "2", "-1, 0") I64 ("e", "2", "0, 0") "%o = Pad@1(%x, %b, %e) {pad_mode=constant}", "!negative pad" },
  { X ("f32[3,4]") I64 ("b", "2", "-1, 0") I64 ("e", "2", "0, -4") "%o = Pad(%x, %b, %e) {pad_mode=constant}", "f32[2,0]" },
  { X ("f32[3,4]") I64 ("b", "2", "-2, 0") I64 ("e", "2", "-2, 0") "%o = Pad(%x, %b, %e) {pad_mode=constant}", "!do not fit axis 0" },
  { X ("f32[2,?]") "%o = ShapeOf(%x) {output_type=i32}", "i32[2]" },
  { X ("f32[...]") "%o = ShapeOf(%x)", "i64[?]" },
  { X ("f32[1,12,2,3]") "%o = DepthToSpace(%x) {block_size=2, mode=blocks_first}", "f32[1,3,4,6]" },
  { X ("f32[1,10,2,3]") "%o = DepthToSpace(%x) {block_size=2, mode=blocks_first}", "!do not divide 10" },
  { X ("f32[1,3,4,6]") "%o = SpaceToDepth(%x) {block_size=2, mode=blocks_first}", "f32[1,12,2,3]" },
  { X ("f32[12,3,2,2]") I64 ("b", "4", "1, 1, 2, 3") I64 ("c", "4", "0, 0, 1, 0") I64 ("d", "4", "0, 0, 0, 2") "%o = BatchToSpace(%x, %b, %c, %d)", "f32[2,3,3,4]" },
  { X ("f32[2,3,3,4]") I64 ("b", "4", "1, 1, 2, 3") I64 ("c", "4", "0, 0, 1, 0") I64 ("d", "4", "0, 0, 0, 2") "%o = SpaceToBatch(%x, %b, %c, %d)", "f32[12,3,2,2]" },
  { X ("f32[1,6,2,2]") "%o = ShuffleChannels(%x) {axis=1, group=4}", "!4 groups do not divide axis 1 of length 6" },
  { X ("f32[2,3]") Y ("i64[1]") S ("a", "2") "%o = Roll(%x, %y, %a)", "!axis 2 is out of range" },
  { X ("f32[2,3]") Y ("i32[2]") "%o = ReverseSequence(%x, %y) {batch_axis=0, seq_axis=1}", "f32[2,3]" },

  { X ("f32[1,6,2,2]") "%o = ShuffleChannels(%x) {axis=-3, group=3}", "f32[1,6,2,2]" },
  { X ("f32[2,3]") Y ("i64[2]") I64 ("a", "2", "0, -1") "%o = Roll(%x, %y, %a)", "f32[2,3]" },

  /* generated */
  { X ("f32[2,3]") "%o = NonZero(%x)", "i64[2,?]" },
  { S ("a", "0") S ("b", "10") S ("c", "3") "%o = Range(%a, %b, %c) {output_type=i64}", "i64[4]" },
  { S ("a", "10") S ("b", "0") S ("c", "-4") "%o = Range(%a, %b, %c) {output_type=f32}", "f32[3]" },
  { S ("a", "10") S ("b", "0") S ("c", "0") "%o = Range(%a, %b, %c) {output_type=f32}", "!step is 0" },
  { S ("a", "-9223372036854775807") S ("b", "9223372036854775807") S ("c", "1") "%o = Range(%a, %b, %c) {output_type=i64}", "!more than 2^63 elements" },
  { X ("i64[2,3]") S ("d", "5") S ("v", "1") "%o = OneHot(%x, %d, %v, %v) {axis=-1}", "i64[2,3,5]" },
  { S ("a", "3") S ("b", "4") S ("c", "0") I64 ("d", "1", "2") "%o = Eye(%a, %b, %c, %d) {output_type=f32}", "f32[2,3,4]" },
  { X ("f32[2,9]") S ("k", "4") "%o = TopK(%x, %k) {axis=-1, mode=max, sort=value}", "f32[2,4], i32[2,4]" },
  { X ("f32[2,3]") S ("k", "4") "%o = TopK(%x, %k) {axis=-1, mode=max, sort=value}", "!k 4 is greater than the length 3" },
  { X ("f32[2,3]") Y ("f32[5]") "%o = Bucketize(%x, %y) {output_type=i32}", "i32[2,3]" },
  { X ("f32[1,1,10,10]") "%o = ExtractImagePatches(%x) {sizes=[3,3], strides=[5,5], rates=[1,1], auto_pad=valid}", "f32[1,9,2,2]" },
  { X ("f32[2,3,8,8]") Y ("f32[2,5,6,2]") "%o = GridSample(%x, %y)", "f32[2,3,5,6]" },
  { I64 ("s", "2", "3, 4") "%a = Const {0} : f32[]\n" "%o = RandomUniform(%s, %a, %a) {output_type=f32}", "f32[3,4]" },

  /* Interpolate */
  { X ("f32[1,3,8,8]") I64 ("s", "2", "16, 24") "%o = Interpolate@1(%x, %s) {mode=nearest, axes=[2,3]}", "f32[1,3,16,24]" },
  { X ("f32[1,3,8,8]") I64 ("s", "2", "16, 24") "%c = Const {1, 1} : f32[2]\n" I64 ("a", "2", "2, 3") "%o = Interpolate@4(%x, %s, %c, %a) {mode=nearest, shape_calculation_mode=sizes}", "f32[1,3,16,24]" },
  { X ("f32[1,3,8,8]") I64 ("s", "2", "1, 1") "%c = Const {1.5, 2.4} : f32[2]\n" I64 ("a", "2", "2, -1") "%o = Interpolate@4(%x, %s, %c, %a) {mode=nearest, shape_calculation_mode=scales, pads_begin=[0,0,1,0]}", "f32[1,3,13,19]" },
  { X ("f32[1,3,8,8]") "%c = Const {0.5, 3} : f32[2]\n" I64 ("a", "2", "2, 3") "%o = Interpolate(%x, %c, %a) {mode=nearest, shape_calculation_mode=scales}", "f32[1,3,4,24]" },
  { X ("f32[1,3,8,8]") "%c = Const {-0.5, 3} : f32[2]\n" I64 ("a", "2", "2, 3") "%o = Interpolate(%x, %c, %a) {mode=nearest, shape_calculation_mode=scales}", "!scale -0.5" },
  { X ("f32[1,3,8,8]") I64 ("s", "2", "16, 24") I64 ("a", "2", "2, 4") "%o = Interpolate(%x, %s, %a) {mode=nearest, shape_calculation_mode=sizes}", "!axis 4 is out of range" },

  /* recurrence */
  { X ("f32[2,5]") Y ("f32[2,4]") "%w = Parameter : f32[16,5]\n%r = Parameter : f32[16,4]\n%b = Parameter : f32[16]\n%o = LSTMCell(%x, %y, %y, %w, %r, %b) {hidden_size=4}", "f32[2,4], f32[2,4]" },
  { X ("f32[2,5]") Y ("f32[2,4]") "%w = Parameter : f32[12,5]\n%r = Parameter : f32[12,4]\n%b = Parameter : f32[16]\n%o = GRUCell(%x, %y, %w, %r, %b) {hidden_size=4, linear_before_reset=true}", "f32[2,4]" },
  { X ("f32[2,5]") Y ("f32[2,4]") "%w = Parameter : f32[12,5]\n%r = Parameter : f32[12,4]\n%o = RNNCell(%x, %y, %w, %r) {hidden_size=4}", "!the number of rows of W is 12 by input 2, but 4" },
  { X ("f32[2,7,5]") Y ("f32[2,2,4]") "%l = Parameter : i64[2]\n%w = Parameter : f32[2,16,5]\n%r = Parameter : f32[2,16,4]\n%b = Parameter : f32[2,16]\n%o = LSTMSequence(%x, %y, %y, %l, %w, %r, %b) {hidden_size=4, direction=bidirectional}", "f32[2,2,7,4], f32[2,2,4], f32[2,2,4]" },
  { X ("f32[2,7,5]") Y ("f32[2,1,4]") "%l = Parameter : i64[2]\n%w = Parameter : f32[1,12,5]\n%r = Parameter : f32[1,12,4]\n%b = Parameter : f32[1,12]\n%o = GRUSequence(%x, %y, %l, %w, %r, %b) {hidden_size=4, direction=forward}", "f32[2,1,7,4], f32[2,1,4]" },

  /* detection */
  { I64 ("a", "2", "19, 18") I64 ("b", "2", "300, 300") "%o = PriorBoxClustered(%a, %b) {width=[1,2,3], height=[1,2,3], offset=0.5}", "f32[2,4104]" },
  { I64 ("a", "2", "2, 2") I64 ("b", "2", "300, 300") "%o = PriorBox(%a, %b) {min_size=[10], max_size=[20], aspect_ratio=[2,3], flip=true, offset=0.5}", "f32[2,96]" },
  { X ("f32[1,8]") Y ("f32[1,4]") Z ("f32[1,2,8]") "%o = DetectionOutput@1(%x, %y, %z) {num_classes=2, keep_top_k=[100], nms_threshold=0.5, normalized=true}", "f32[1,1,100,7]" },
  { X ("f32[3,8]") Y ("f32[3,4]") Z ("f32[1,2,8]") "%o = DetectionOutput(%x, %y, %z) {keep_top_k=[-1], top_k=10, nms_threshold=0.5, normalized=true}", "f32[1,1,60,7]" },
  { X ("f32[1,12]") Y ("f32[1,4]") Z ("f32[1,2,8]") "%o = DetectionOutput@1(%x, %y, %z) {num_classes=2, keep_top_k=[100], nms_threshold=0.5, normalized=true}", "!12 deltas for 2 boxes" },
  { X ("f32[2,100,4]") Y ("f32[2,3,100]") "%o = NonMaxSuppression(%x, %y) : i64[?,3], f32[?,3], i64[1]", "i64[?,3], f32[?,3], i64[1]" },
  { X ("f32[2,100,4]") Y ("f32[2,3,100]") S ("m", "7") "%o = NonMaxSuppression@4(%x, %y, %m) : i64[?,3]", "i64[42,3]" },
  { X ("f32[2,100,5]") Y ("f32[2,3,100]") "%o = NonMaxSuppression(%x, %y)", "!boxes of 5 numbers, not 4" },
  { X ("f32[1,24,4,4]") Y ("f32[1,48,4,4]") Z ("f32[3]") "%o = Proposal(%x, %y, %z) {base_size=16, pre_nms_topn=10, post_nms_topn=5, nms_thresh=0.7, feat_stride=16, min_size=16, ratio=[1], scale=[1]} : f32[?,5], f32[?]", "f32[5,5], f32[5]" },
  { X ("f32[1,8,14,14]") Y ("f32[20,5]") "%o = ROIPooling(%x, %y) {pooled_h=6, pooled_w=7, spatial_scale=1}", "f32[20,8,6,7]" },
  { X ("f32[1,8,14,14]") Y ("f32[20,4]") Z ("i64[20]") "%o = ROIAlign(%x, %y, %z) {pooled_h=6, pooled_w=7, sampling_ratio=2, spatial_scale=1, mode=avg}", "f32[20,8,6,7]" },
#include "infer-rows-more.h"
  { X ("f32[1,50,4]") Y ("f32[1,50,7]") "%z = Parameter : f32[50,4]\n"
    "%o = DetectionPostProcess(%x, %y, %z) {max_detections=10, max_classes_per_detection=2, num_classes=6}", "f32[1,20,4], f32[1,20], f32[1,20], f32[1]" },
  { X ("i8[1,50,4]") Y ("f32[1,40,7]") "%z = Parameter : f32[50,4]\n"
    "%o = DetectionPostProcess(%x, %y, %z) {max_detections=10, num_classes=6}", "!boxes, scores and anchors do not fit each other" },
  { X ("f32[2,5,7]") "%o = DynamicQuantize(%x)", "u8[2,5,7], f32[], u8[]" },
  { X ("f32[2,5,7]") "%o = DynamicQuantize(%x) {axis=-1, symmetric=true}", "i8[2,5,7], f32[2,5,1], i8[2,5,1]" },
  { X ("f32[2,5,7]") "%o = DynamicQuantize(%x) {axis=3}", "!axis 3" },
  { X ("f32[2,5]") "%q = DynamicQuantize(%x) : u8[2,5], f32[], u8[]\n%o = DynamicRest(%x, %q, %q.1, %q.2)", "u8[2,5]" },
  { X ("f32[2,5]") "%q = DynamicQuantize(%x) {symmetric=true} : i8[2,5], f32[], i8[]\n%o = DynamicRest(%x, %q, %q.1)",
    "i8[2,5]" },
  { X ("f32[2,5]") "%q = DynamicQuantize(%x) : u8[2,5], f32[], u8[]\n%o = DynamicRest(%x, %q, %x)", "!not one" },
  { X ("f32[2,5,70]") "%o = DynamicQuantize(%x) {axis=-1, symmetric=true, block=32}", "i8[2,5,70], f32[2,5,3], i8[2,5,3]" },
  { X ("f32[2,5,70]") "%o = DynamicQuantize(%x) {axis=1, symmetric=true, block=32}", "!blocks of 32 in rows that are not the last axis" },
  { X ("i8[2,5,70]") Y ("u4[9,70]") "%s = Parameter : f32[2,5,3]\n%t = Parameter : f32[9,3]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, %t) {block=32}", "f32[2,5,9]" },
  { X ("i8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,3]\n%t = Parameter : f32[9,1]\n%b = Parameter : f32[9]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, _, %b) {block=32}", "f32[2,9]" },
  { X ("i8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,3]\n%t = Parameter : f32[9,4]\n"
    "%o = BlockMatMul(%x, %y, %s, %t) {block=32}", "!input 3 has shape [9,4], no numbers for the rows and blocks of the right side" },
  { X ("i8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,2]\n%t = Parameter : f32[9,3]\n"
    "%o = BlockMatMul(%x, %y, %s, %t) {block=32}", "!the scales of the left side do not fit its rows and blocks" },
  { X ("u8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,3]\n%t = Parameter : f32[9,1]\n%z = Parameter : u8[2,3]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, _, _, %z) {block=32}", "f32[2,9]" },
  { X ("u8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,3]\n%t = Parameter : f32[9,1]\n%z = Parameter : u8[2,1]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, _, _, %z) {block=32}",
    "!the zero points of the left side do not fit its rows and blocks" },
  { X ("u8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,1]\n%t = Parameter : f32[9,1]\n%z = Parameter : u8[2,1]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, _, _, %z) {block=32}", "f32[2,9]" },
  { X ("u8[2,70]") Y ("i8[9,70]") "%s = Parameter : f32[2,1]\n%t = Parameter : f32[9,1]\n%z = Parameter : u8[2,3]\n"
    "%o = BlockMatMul(%x, %y, %s, %t, _, _, %z) {block=32}",
    "!the zero points of the left side do not fit its rows and blocks" },
  { X ("i8[2,70]") Y ("i8[9,71]") "%s = Parameter : f32[2,3]\n%t = Parameter : f32[9,3]\n"
    "%o = BlockMatMul(%x, %y, %s, %t) {block=32}", "!the codes do not multiply" },
  { X ("i8[2,5]") Y ("i8[12,5]") "%t = Parameter : i8[12,3]\n%s = Parameter : i16[2,36]\n%o = LiteSVDF(%x, %y, %t, _, %s) {rank=2}", "i8[2,6], i16[2,36]" },
  { X ("i8[2,5]") Y ("i8[12,5]") "%t = Parameter : i8[12,3]\n%s = Parameter : i16[2,35]\n%o = LiteSVDF(%x, %y, %t, _, %s) {rank=2}", "!the length of the state is 35 by input 4, but 36" },
  { LITE_LSTM ("LiteLSTMCell"), "i8[2,3], i16[2,7]" },
  { LITE_LSTM ("LiteLSTMCell8"), "i8[2,3], i16[2,7]" },
  { X ("i8[2,5]") Y ("i8[7,5]") "%r = Parameter : i8[7,3]\n%h = Parameter : i8[2,3]\n%c = Parameter : i16[2,7]\n"
    "%o = LiteLSTMCell(%x, _, %y, %y, %y, _, %r, %r, %r, _, _, _, _, _, _, _, _, _, %h, %c)", "!the number of cells is 3 by input 18, but 7" },
  { X ("f32[1,18,14,14]") Y ("f32[20,5]") "%o = PSROIPooling(%x, %y) {output_dim=2, group_size=3, spatial_scale=1}", "f32[20,2,3,3]" },
  { X ("f32[1,125,13,13]") "%o = RegionYolo(%x) {axis=1, end_axis=3, coords=4, classes=20, num=5, do_softmax=true}", "f32[1,21125]" },
  { X ("f32[1,255,13,13]") "%o = RegionYolo(%x) {axis=1, end_axis=3, coords=4, classes=80, num=9, do_softmax=false, mask=[0,1,2]}", "f32[1,255,13,13]" },
  { X ("f32[1,64,26,26]") "%o = ReorgYolo(%x) {stride=2}", "f32[1,256,13,13]" },
  { X ("f32[20,2,10]") Y ("f32[20,2]") "%o = CTCGreedyDecoder(%x, %y)", "f32[2,20,1,1]" },
  { X ("f32[2,20,10]") Y ("i32[2]") "%o = CTCGreedyDecoderSeqLen(%x, %y)", "i32[2,20], i32[2]" },

  /* bodies */
#define SAME "  body {\n    in 2 -> 0\n    out 0 <- 0\n    %a = Parameter : f32[2]\n    Result(%a)\n  }\n"
  { X ("f32[2]") Y ("boolean[1]") "%o = If(%y, _, %x) : f32[2] {\n" SAME SAME "}", "f32[2]" },
  { X ("f32[2]") Y ("boolean[1,2]") "%o = If(%y, _, %x) : f32[2] {\n" SAME SAME "}",
    "!the condition has shape [1,2], not one element" },
  { X ("f32[2]") Y ("boolean[]") Z ("i64[2]") "%o = Loop(%z, %y, %x) : f32[2] {\n" SAME "}",
    "!the trip count has shape [2], not one element" },
  { X ("f32[2]") Y ("boolean[0]") Z ("i64[]") "%o = Loop(%z, %y, %x) : f32[2] {\n" SAME "}",
    "!the condition has shape [0], not one element" },
  { X ("f32[2]") Y ("boolean[]") Z ("i64[]") "%o = Loop(%z, %y, %x) : f32[2] {\n"
    "  body {\n    in 2 -> 0\n    out _ <- 1 condition\n    out 0 <- 0\n"
    "    %a = Parameter : f32[2]\n    %b = Less(%a, %a)\n    Result(%a)\n    Result(%b)\n  }\n}",
    "!the condition has shape [2], not one element" },
  { X ("f32[2]") Y ("boolean[]") Z ("i64[]") "%o = Loop(%z, %y, %x) : f32[2] {\n"
    "  body {\n    in 2 -> 0\n    out 0 <- 0 axis=0 stride=0\n    %a = Parameter : f32[2]\n    Result(%a)\n  }\n}",
    "!output 0 is joined with stride 0" },
  { X ("f32[2]") Y ("boolean[]") Z ("i64[]") "%o = Loop(%z, %y, %x) : f32[2] {\n"
    "  body {\n    in _ -> 0 iteration\n    in 2 -> 1\n    out 0 <- 0\n"
    "    %i = Parameter : i64[2]\n    %a = Parameter : f32[2]\n    Result(%a)\n  }\n}",
    "!the number of the iteration has shape [2], not one element" },
#undef SAME

  /* shapes that the model computes */
  { X ("f32[2,3,4]") "%s = ShapeOf(%x)\n" S ("i", "0") S ("a", "0") "%d = Gather(%s, %i, %a)\n" I64 ("u", "1", "0") "%e = Unsqueeze(%d, %u)\n" I64 ("m", "1", "-1")
    "%c = Concat(%e, %m) {axis=0}\n%o = Reshape(%x, %c)", "f32[2,12]" },
  { X ("f32[?,3,4]") "%s = ShapeOf(%x)\n" I64 ("i", "1", "0") S ("a", "0") "%d = Gather(%s, %i, %a)\n" I64 ("m", "2", "-1, 2")
    "%c = Concat(%d, %m) {axis=0}\n%o = Reshape(%x, %c)", "f32[?,?,2]" },
  { X ("f32[1,3,8,10]") "%s = ShapeOf(%x)\n" I64 ("b", "1", "2") I64 ("e", "1", "4") "%h = StridedSlice(%s, %b, %e)\n%f = Convert(%h) : f32[2]\n"
    "%k = Const {2.5, 0.5} : f32[2]\n%g = Multiply(%f, %k)\n%q = Floor(%g)\n%n = Convert(%q) : i64[2]\n" I64 ("a", "2", "2, 3")
    "%o = Interpolate(%x, %n, %a) {mode=nearest, shape_calculation_mode=sizes}", "f32[1,3,20,5]" },
  { X ("f32[2,3,4,5]") "%s = ShapeOf(%x)\n" S ("z", "0") "%p = ReduceProd(%s, %z) {keep_dims=true}\n%o = Reshape(%x, %p)", "f32[120]" },
  { X ("f32[2,3,4,5]") "%s = ShapeOf(%x)\n" S ("z", "0") "%v = Split(%s, %z) {num_splits=2} : i64[2], i64[2]\n%c = Concat(%v.1, %v) {axis=0}\n%o = Reshape(%x, %c)", "f32[4,5,2,3]" },
  { X ("f32[6]") Y ("f32[2,?]") "%s = ShapeOf(%y)\n%o = Reshape(%x, %s)", "f32[2,3]" },
};

/* --- running a row --- */

static char *
types_of (LptNode *node)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < node->n_out; i++)
    {
      g_autofree char *shape = lpt_shape_to_string (&node->out[i].shape);

      g_string_append_printf (text, "%s%s[%s]", i > 0 ? ", " : "", lpt_dtype_name (node->out[i].dtype), shape);
    }

  return g_strdup (text->str);
}

static void
test_row (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = lpt_graph_from_text (row->text, -1, NULL, &error);
  g_autofree char *types = NULL;

  if (row->expected[0] == '!')
    {
      g_assert_null (graph);
      if (strstr (error->message, row->expected + 1) == NULL)
        g_error ("%s\n  gives: %s\n  not:   %s", row->text, error->message, row->expected + 1);
      g_assert_nonnull (strstr (error->message, "node \"o\""));
      return;
    }
  g_assert_no_error (error);
  types = types_of (lpt_graph_find (graph, "o"));
  if (strcmp (types, row->expected) != 0)
    g_error ("%s\n  gives: %s\n  not:   %s", row->text, types, row->expected);
}

/* Knowing less must not give another result, nor an error. */
static void
test_less_known (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (LptGraph) known = lpt_graph_from_text (row->text, -1, NULL, NULL);
  LptNode *expected;

  if (known == NULL)
    return;
  expected = lpt_graph_find (known, "o");
  for (guint round = 0; round < 20; round++)
    {
      g_autoptr (LptGraph) graph = lpt_graph_copy (known);
      g_autoptr (GError) error = NULL;
      LptNode *node = lpt_graph_find (graph, "o");

      for (guint i = 0; i < graph->parameters->len; i++)
        {
          LptNode *parameter = g_ptr_array_index (graph->parameters, i);
          LptShape *shape = &LPT_ATTRS (parameter, LptParameterAttrs)->shape;

          if (g_test_rand_int_range (0, 5) == 0)
            *shape = LPT_SHAPE_ANY;
          for (gint k = 0; k < shape->rank; k++)
            if (g_test_rand_bit ())
              shape->dims[k] = LPT_DYNAMIC;
        }
      lpt_graph_infer (graph, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < node->n_out; k++)
        {
          g_assert_cmpint (node->out[k].dtype, ==, expected->out[k].dtype);
          if (!lpt_shape_compatible (&node->out[k].shape, &expected->out[k].shape))
            {
              g_autofree char *less = lpt_graph_to_text (graph, LPT_TEXT_DEFAULT);

              g_error ("%s\ndoes not fit what is inferred for known shapes:\n%s", less, row->text);
            }
        }
    }
}

/* Every op of the table is in some row. */
static void
test_coverage (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) missing = g_string_new (NULL);

  for (LptOp op = LPT_OP_FIRST; op < LPT_N_OPS; op++)
    {
      const LptOpInfo *info = lpt_op_info (op);

      g_assert_nonnull (info->infer);
      for (guint i = 0; i < G_N_ELEMENTS (rows) && !g_hash_table_contains (seen, info->name); i++)
        {
          g_autoptr (LptGraph) graph = lpt_graph_from_text (rows[i].text, -1, NULL, NULL);

          for (guint k = 0; graph != NULL && k < graph->nodes->len; k++)
            if (((LptNode *) g_ptr_array_index (graph->nodes, k))->info->infer == info->infer)
              g_hash_table_add (seen, (gpointer) info->name);
        }
      /* Inferred through bodies, in test-text.c and test-validate.c; and states. */
      if (!g_hash_table_contains (seen, info->name) && op != LPT_OP_TENSOR_ITERATOR && op != LPT_OP_LOOP &&
          op != LPT_OP_IF && op != LPT_OP_READ_VALUE && op != LPT_OP_RESULT)
        g_string_append_printf (missing, " %s", info->name);
    }
  g_assert_cmpstr (missing->str, ==, "");
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/infer/row/%u", i);
      g_autofree char *less = g_strdup_printf ("/infer/less-known/%u", i);

      g_test_add_data_func (path, &rows[i], test_row);
      g_test_add_data_func (less, &rows[i], test_less_known);
    }
  g_test_add_func ("/infer/coverage", test_coverage);

  return g_test_run ();
}
