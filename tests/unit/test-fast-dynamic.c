/* test-fast-dynamic.c - data quantized at run time and products of its codes: kernels give the bytes of the plain ops
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/lpt-plan.h"
#include "fast-case.h"

/* The form does every op of the kind @op. */
static void
check_forms (LptGraph *graph,
             LptOp     op)
{
  g_autoptr (LptPlan) plan = fast_plan (graph, 0);
  guint i, n = 0;

  for (i = 0; i < plan->program->n_nodes; i++)
    {
      const LptProgramOp *step = plan->program->nodes->pdata[i];

      if (step->node->op != op || step->folded)
        continue;
      g_assert_true (lpt_program_owner (step)->has_form);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

static const struct { const char *name; LptOp op; const char *text; } cases[] =
{
  { "matmul", LPT_OP_MATMUL,
    "%x = Parameter : f32[5,33]\n"
    "%q = DynamicQuantize(%x) : u8[5,33] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(33*70)} : i8[33,70] q{scale=1}\n"
    "%s = Const {0.01} : f32[]\n"
    "%m = Multiply(%q.1, %s) : f32[]\n"
    "%a = MatMul(%q, %w, _, %q.2) #{relaxed} : i32[5,70] q{scale=1}\n"
    "%c = Convert(%a) {destination_type=f32} : f32[5,70]\n"
    "%y = Multiply(%c, %m) : f32[5,70]\n"
    "Result(%y)\n" },
  { "sums", LPT_OP_MATMUL,
    "%x = Parameter : f32[2,3,20]\n"
    "%q = DynamicQuantize(%x) : u8[2,3,20] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(20*17)} : i8[17,20] q{scale=1, zp=-3}\n"
    "%a = MatMul(%q, %w, _, %q.2) {transpose_b=true} #{relaxed} : i32[2,3,17] q{scale=1}\n"
    "Result(%a)\n" },
  { "batches", LPT_OP_MATMUL,
    "%x = Parameter : f32[2,5,33]\n"
    "%q = DynamicQuantize(%x) : u8[2,5,33] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(2*33*70)} : i8[2,33,70] q{scale=1, zp=4}\n"
    "%a = MatMul(%q, %w, _, %q.2) #{relaxed} : i32[2,5,70] q{scale=1}\n"
    "%c = Convert(%a) {destination_type=f32} : f32[2,5,70]\n"
    "%y = Multiply(%c, %q.1) : f32[2,5,70]\n"
    "Result(%y)\n" },
  { "column-scales", LPT_OP_MATMUL,
    "%x = Parameter : f32[130,64]\n"
    "%q = DynamicQuantize(%x) : u8[130,64] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(64*6)} : i8[64,6] q{axis=1, scale=[1,1,1,1,1,1], zp=[0,1,-2,5,0,127]}\n"
    "%s = Const {0.01, 0.02, 0.5, 0.3, 0.001, 2} : f32[6]\n"
    "%b = Const {1, -2, 0.5, 3, 0.25, 8} : f32[6]\n"
    "%m = Multiply(%q.1, %s) : f32[6]\n"
    "%a = MatMul(%q, %w, _, %q.2) #{relaxed} : i32[130,6] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[130,6]\n"
    "%p = Multiply(%m, %c) : f32[130,6]\n"
    "%z = Add(%p, %b) : f32[130,6]\n"
    "%y = Relu(%z) : f32[130,6]\n"
    "Result(%y)\n" },
  { "shared", LPT_OP_DYNAMIC_QUANTIZE,
    "%x = Parameter : f32[40,2000]\n"
    "%q = DynamicQuantize(%x) : u8[40,2000] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%f = Const {1} : f32[]\n"
    "%s = Multiply(%q.1, %f) : f32[]\n"
    "Result(%q)\n"
    "Result(%s)\n"
    "Result(%q.2)\n" },
  { "rest", LPT_OP_DYNAMIC_REST,
    "%x = Parameter : f32[2,3,9,11]\n"
    "%q = DynamicQuantize(%x) : u8[2,3,9,11] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%l = DynamicRest(%x, %q, %q.1, %q.2) : u8[2,3,9,11] q{scale=1, zp=128}\n"
    "%w = Const {$(20*3*3*3)} : i8[20,3,3,3] q{scale=1}\n"
    "%a = Convolution(%l, %w) {strides=[2,1], pads_begin=[1,2], pads_end=[1,1], dilations=[1,1]} #{relaxed} "
    ": i32[2,20,5,12] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[2,20,5,12]\n"
    "%y = Multiply(%c, %q.1) : f32[2,20,5,12]\n"
    "Result(%y)\n"
    "Result(%l)\n" },
  { "signed-rest", LPT_OP_DYNAMIC_REST,
    "%x = Parameter : f32[40,2000]\n"
    "%q = DynamicQuantize(%x) {symmetric=true} : i8[40,2000] q{scale=1}, f32[], i8[] q{scale=1}\n"
    "%l = DynamicRest(%x, %q, %q.1) : i8[40,2000] q{scale=1}\n"
    "Result(%l)\n" },
  { "blocks", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[3,7,300]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=128} : i8[3,7,300] q{scale=1}, f32[3,7,3], i8[3,7,3] q{scale=1}\n"
    "%w = Const {$(70*300)} : i8[70,300] q{scale=1}\n"
    "%s = Const {#(70)} : f32[70,1]\n"
    "%b = Const {#(70)} : f32[70]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, _, %b) {block=128} : f32[3,7,70]\n"
    "%r = Relu(%y) : f32[3,7,70]\n"
    "Result(%r)\n" },
  { "block-zeros", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[1,100]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=32} : i8[1,100] q{scale=1}, f32[1,4], i8[1,4] q{scale=1}\n"
    "%w = Const {@(33*100)} : u8[33,100] q{scale=1}\n"
    "%s = Const {#(33*4)} : f32[33,4]\n"
    "%z = Const {$(33*4)} : f32[33,4]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, %z) {block=32} : f32[1,33]\n"
    "Result(%y)\n" },
  { "lifted-blocks", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[3,7,300]\n"
    "%q = DynamicQuantize(%x) {axis=-1, block=128} : u8[3,7,300] q{scale=1}, f32[3,7,3], u8[3,7,3] q{scale=1}\n"
    "%w = Const {$(70*300)} : i8[70,300] q{scale=1}\n"
    "%s = Const {#(70)} : f32[70,1]\n"
    "%b = Const {#(70)} : f32[70]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, _, %b, %q.2) {block=128} : f32[3,7,70]\n"
    "%r = Relu(%y) : f32[3,7,70]\n"
    "Result(%r)\n" },
  { "wide-blocks", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[3,7,300]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=128, bits=16} "
    ": i16[3,7,300] q{scale=1}, f32[3,7,3], i16[3,7,3] q{scale=1}\n"
    "%w = Const {$(70*300)} : i8[70,300] q{scale=1}\n"
    "%s = Const {#(70)} : f32[70,1]\n"
    "%b = Const {#(70)} : f32[70]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, _, %b) {block=128} : f32[3,7,70]\n"
    "%r = Relu(%y) : f32[3,7,70]\n"
    "Result(%r)\n" },
  { "wide-zeros", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[200,100]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=128, bits=16} "
    ": i16[200,100] q{scale=1}, f32[200,1], i16[200,1] q{scale=1}\n"
    "%w = Const {@(33*100)} : u8[33,100] q{scale=1}\n"
    "%s = Const {#(33)} : f32[33,1]\n"
    "%z = Const {$(33)} : f32[33,1]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, %z) {block=128} : f32[200,33]\n"
    "Result(%y)\n" },
  { "wide-whole", LPT_OP_DYNAMIC_QUANTIZE,
    "%x = Parameter : f32[40,70]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, bits=16} "
    ": i16[40,70] q{scale=1}, f32[40,1], i16[40,1] q{scale=1}\n"
    "%f = Const {1} : f32[]\n"
    "%s = Multiply(%q.1, %f) : f32[40,1]\n"
    "Result(%q)\n"
    "Result(%s)\n" },
  { "lifted-residual", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[400,32]\n"
    "%q = DynamicQuantize(%x) {axis=-1, block=128} : u8[400,32] q{scale=1}, f32[400,1], u8[400,1] q{scale=1}\n"
    "%w = Const {@(32*32)} : u8[32,32] q{scale=1}\n"
    "%s = Const {#(32)} : f32[32,1]\n"
    "%z = Const {$(32)} : f32[32,1]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, %z, _, %q.2) {block=128} : f32[400,32]\n"
    "%r = Add(%y, %x) : f32[400,32]\n"
    "Result(%r)\n"
    "Result(%q.2)\n" },
  { "lifted-nibbles", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[50,96]\n"
    "%q = DynamicQuantize(%x) {axis=-1, block=32} : u8[50,96] q{scale=1}, f32[50,3], u8[50,3] q{scale=1}\n"
    "%w = Const {^(130*96)} : u4[130,96] q{scale=1}\n"
    "%s = Const {#(130*3)} : f32[130,3]\n"
    "%z = Const {$(130*3)} : f32[130,3]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, %z, _, %q.2) {block=32} : f32[50,130]\n"
    "Result(%y)\n" },
  { "lifted-nibble-row", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[1,1,40]\n"
    "%q = DynamicQuantize(%x) {axis=-1, block=16} : u8[1,1,40] q{scale=1}, f32[1,1,3], u8[1,1,3] q{scale=1}\n"
    "%w = Const {^(200*40)} : i4[200,40] q{scale=1}\n"
    "%s = Const {#(200*3)} : f32[200,3]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, _, _, %q.2) {block=16} : f32[1,1,200]\n"
    "Result(%y)\n" },
  { "nibbles", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[50,96]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=32} : i8[50,96] q{scale=1}, f32[50,3], i8[50,3] q{scale=1}\n"
    "%w = Const {^(130*96)} : u4[130,96] q{scale=1}\n"
    "%v = Const {^(130*96)} : i4[130,96] q{scale=1}\n"
    "%s = Const {#(130*3)} : f32[130,3]\n"
    "%z = Const {$(130*3)} : f32[130,3]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, %z) {block=32} : f32[50,130]\n"
    "%u = BlockMatMul(%q, %v, %q.1, %s) {block=32} : f32[50,130]\n"
    "%t = Add(%y, %u) : f32[50,130]\n"
    "Result(%t)\n" },
  { "nibble-row", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[1,1,40]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, block=16} : i8[1,1,40] q{scale=1}, f32[1,1,3], i8[1,1,3] q{scale=1}\n"
    "%w = Const {^(200*40)} : i4[200,40] q{scale=1}\n"
    "%s = Const {#(200*3)} : f32[200,3]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s) {block=16} : f32[1,1,200]\n"
    "Result(%y)\n" },
  { "conv", LPT_OP_CONVOLUTION,
    "%x = Parameter : f32[2,3,9,11]\n"
    "%q = DynamicQuantize(%x) : u8[2,3,9,11] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(20*3*3*3)} : i8[20,3,3,3] q{scale=1}\n"
    "%a = Convolution(%q, %w, _, %q.2) {strides=[2,1], pads_begin=[1,2], pads_end=[1,1], dilations=[1,1]} #{relaxed} : i32[2,20,5,12] q{scale=1}\n"
    "%c = Convert(%a) {destination_type=f32} : f32[2,20,5,12]\n"
    "%y = Multiply(%c, %q.1) : f32[2,20,5,12]\n"
    "%r = Relu(%y) : f32[2,20,5,12]\n"
    "%n = DynamicQuantize(%r) : u8[2,20,5,12] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%v = Const {$(20*9)} : i8[20,1,1,3,3] q{scale=1}\n"
    "%d = GroupConvolution(%n, %v, _, %n.2) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} #{relaxed} : i32[2,20,5,12] q{scale=1}\n"
    "%e = Convert(%d) {destination_type=f32} : f32[2,20,5,12]\n"
    "%z = Multiply(%e, %n.1) : f32[2,20,5,12]\n"
    "Result(%z)\n" },
  { "transposed", LPT_OP_CONVOLUTION_BACKPROP_DATA,
    "%x = Parameter : f32[2,20,5,6]\n"
    "%q = DynamicQuantize(%x) : u8[2,20,5,6] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(20*18*3*2)} : i8[20,18,3,2] q{scale=1, zp=-3}\n"
    "%a = ConvolutionBackpropData(%q, %w, _, _, %q.2)"
    " {strides=[2,3], pads_begin=[1,0], pads_end=[0,1], dilations=[1,1]} #{relaxed} : i32[2,18,10,16] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[2,18,10,16]\n"
    "%s = Const {#(18)} : f32[18,1,1]\n"
    "%f = Multiply(%q.1, %s) : f32[18,1,1]\n"
    "%y = Multiply(%c, %f) : f32[2,18,10,16]\n"
    "Result(%y)\n" },
  { "transposed-groups", LPT_OP_GROUP_CONVOLUTION_BACKPROP_DATA,
    "%x = Parameter : f32[1,16,7,5]\n"
    "%q = DynamicQuantize(%x) : u8[1,16,7,5] q{scale=1}, f32[], u8[] q{scale=1}\n"
    "%w = Const {$(16*16)} : i8[16,1,1,4,4] q{scale=1}\n"
    "%a = GroupConvolutionBackpropData(%q, %w, _, _, %q.2)"
    " {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} #{relaxed} : i32[1,16,14,10] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[1,16,14,10]\n"
    "%y = Multiply(%c, %q.1) : f32[1,16,14,10]\n"
    "Result(%y)\n" },
  { "fake-rows", LPT_OP_DYNAMIC_FAKE_QUANTIZE,
    "%x = Parameter : f32[7,3,45]\n"
    "%r = Relu(%x) : f32[7,3,45]\n"
    "%a = DynamicFakeQuantize(%x) : f32[7,3,45]\n"
    "%b = DynamicFakeQuantize(%r) {symmetric=false} : f32[7,3,45]\n"
    "%c = DynamicFakeQuantize(%x) {axis=1, symmetric=false} : f32[7,3,45]\n"
    "%z = Const {0} : f32[]\n"
    "%n = Multiply(%x, %z) : f32[7,3,45]\n"
    "%d = DynamicFakeQuantize(%n) : f32[7,3,45]\n"
    "Result(%a)\n"
    "Result(%b)\n"
    "Result(%c)\n"
    "Result(%d)\n" },
  { "fake-last", LPT_OP_DYNAMIC_FAKE_QUANTIZE,
    "%x = Parameter : f32[2,3,9,11]\n"
    "%a = DynamicFakeQuantize(%x) {axis=1} : f32[2,3,9,11]\n"
    "%w = Const {#(20*27)} : f32[20,3,3,3]\n"
    "%c = Convolution(%a, %w) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} : f32[2,20,9,11]\n"
    "%b = DynamicFakeQuantize(%c) {axis=1, symmetric=false} : f32[2,20,9,11]\n"
    "%v = Const {#(20*20)} : f32[20,20,1,1]\n"
    "%y = Convolution(%b, %v) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]} : f32[2,20,9,11]\n"
    "Result(%y)\n" },
  { "litert-rows", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[7,3,300]\n"
    "%q = DynamicQuantize(%x) {axis=-1, litert=true} : u8[7,3,300] q{scale=1}, f32[7,3,1], u8[7,3,1] q{scale=1}\n"
    "%p = DynamicQuantize(%x) {axis=-1, symmetric=true, litert=true}"
    " : i8[7,3,300] q{scale=1}, f32[7,3,1], i8[7,3,1] q{scale=1}\n"
    "%w = Const {$(70*300)} : i8[70,300] q{scale=1}\n"
    "%s = Const {#(70)} : f32[70,1]\n"
    "%b = Const {#(70)} : f32[70]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s, _, %b, %q.2) {block=256} : f32[7,3,70]\n"
    "%z = BlockMatMul(%p, %w, %p.1, %s) {block=128} : f32[7,3,70]\n"
    "Result(%y)\n"
    "Result(%z)\n" },
  { "litert-nibbles", LPT_OP_BLOCK_MATMUL,
    "%x = Parameter : f32[2,96]\n"
    "%q = DynamicQuantize(%x) {axis=-1, symmetric=true, litert=true}"
    " : i8[2,96] q{scale=1}, f32[2,1], i8[2,1] q{scale=1}\n"
    "%w = Const {^(130*96)} : u4[130,96] q{scale=1}\n"
    "%s = Const {#(130*3)} : f32[130,3]\n"
    "%y = BlockMatMul(%q, %w, %q.1, %s) {block=32} : f32[2,130]\n"
    "Result(%y)\n" },
  { "litert-parts", LPT_OP_DYNAMIC_QUANTIZE,
    "%x = Parameter : f32[2,200,300]\n"
    "%q = DynamicQuantize(%x) {axis=1, litert=true} : u8[2,200,300] q{scale=1}, f32[2,1,1], u8[2,1,1] q{scale=1}\n"
    "Result(%q)\n"
    "Result(%q.1)\n"
    "Result(%q.2)\n" },
  { "litert-images", LPT_OP_CONVOLUTION,
    "%x = Parameter : f32[3,3,9,11]\n"
    "%q = DynamicQuantize(%x) {axis=1, litert=true} : u8[3,3,9,11] q{scale=1}, f32[3,1,1,1], u8[3,1,1,1] q{scale=1}\n"
    "%w = Const {$(20*3*3*3)} : i8[20,3,3,3] q{scale=1}\n"
    "%a = Convolution(%q, %w, _, %q.2) {strides=[2,1], pads_begin=[1,2], pads_end=[1,1], dilations=[1,1]}"
    " #{relaxed} : i32[3,20,5,12] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[3,20,5,12]\n"
    "%s = Const {#(20)} : f32[20,1,1]\n"
    "%f = Multiply(%q.1, %s) : f32[3,20,1,1]\n"
    "%y = Multiply(%c, %f) : f32[3,20,5,12]\n"
    "%r = Relu(%y) : f32[3,20,5,12]\n"
    "%n = DynamicQuantize(%r) {axis=1, litert=true} : u8[3,20,5,12] q{scale=1}, f32[3,1,1,1], u8[3,1,1,1] q{scale=1}\n"
    "%v = Const {$(20*9)} : i8[20,1,1,3,3] q{scale=1}\n"
    "%d = GroupConvolution(%n, %v, _, %n.2) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}"
    " #{relaxed} : i32[3,20,5,12] q{scale=1}\n"
    "%e = Dequantize(%d) : f32[3,20,5,12]\n"
    "%g = Multiply(%n.1, %s) : f32[3,20,1,1]\n"
    "%z = Multiply(%e, %g) : f32[3,20,5,12]\n"
    "Result(%z)\n" },
  { "litert-one-channel", LPT_OP_CONVOLUTION,
    "%x = Parameter : f32[4,5,6,6]\n"
    "%q = DynamicQuantize(%x) {axis=1, symmetric=true, litert=true}"
    " : i8[4,5,6,6] q{scale=1}, f32[4,1,1,1], i8[4,1,1,1] q{scale=1}\n"
    "%w = Const {$(5)} : i8[1,5,1,1] q{scale=1}\n"
    "%a = Convolution(%q, %w) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}"
    " #{relaxed} : i32[4,1,6,6] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[4,1,6,6]\n"
    "%y = Multiply(%c, %q.1) : f32[4,1,6,6]\n"
    "%u = Const {$(4*5)} : i8[4,5,1,1] q{scale=1}\n"
    "%b = Convolution(%q, %u) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}"
    " #{relaxed} : i32[4,4,6,6] q{scale=1}\n"
    "%d = Dequantize(%b) : f32[4,4,6,6]\n"
    "%z = Multiply(%d, %q.1) : f32[4,4,6,6]\n"
    "Result(%y)\n"
    "Result(%z)\n" },
  { "litert-transposed", LPT_OP_CONVOLUTION_BACKPROP_DATA,
    "%x = Parameter : f32[2,20,5,6]\n"
    "%q = DynamicQuantize(%x) {axis=1, litert=true} : u8[2,20,5,6] q{scale=1}, f32[2,1,1,1], u8[2,1,1,1] q{scale=1}\n"
    "%w = Const {$(20*18*3*2)} : i8[20,18,3,2] q{scale=1, zp=-3}\n"
    "%a = ConvolutionBackpropData(%q, %w, _, _, %q.2)"
    " {strides=[2,3], pads_begin=[1,0], pads_end=[0,1], dilations=[1,1]} #{relaxed} : i32[2,18,10,16] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[2,18,10,16]\n"
    "%s = Const {#(18)} : f32[18,1,1]\n"
    "%f = Multiply(%q.1, %s) : f32[2,18,1,1]\n"
    "%y = Multiply(%c, %f) : f32[2,18,10,16]\n"
    "Result(%y)\n" },
  { "symmetric", LPT_OP_CONVOLUTION,
    "%x = Parameter : f32[2,3,40,300]\n"
    "%q = DynamicQuantize(%x) {symmetric=true} : i8[2,3,40,300] q{scale=1}, f32[], i8[] q{scale=1}\n"
    "%w = Const {$(20*3*3*3)} : i8[20,3,3,3] q{scale=1}\n"
    "%a = Convolution(%q, %w)"
    " {strides=[2,2], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]} #{relaxed} : i32[2,20,20,150] q{scale=1}\n"
    "%c = Dequantize(%a) : f32[2,20,20,150]\n"
    "%y = Multiply(%c, %q.1) : f32[2,20,20,150]\n"
    "Result(%y)\n" },
};

static void
test_case (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (LptGraph) graph = fast_case_graph (cases[i].text, cases[i].name);

  check_forms (graph, cases[i].op);
  if (cases[i].op != LPT_OP_DYNAMIC_FAKE_QUANTIZE)
    check_forms (graph, LPT_OP_DYNAMIC_QUANTIZE);
  fast_case_compare (graph, -3, 5);
  /* Of one sign, and of nothing. */
  fast_case_compare (graph, 1, 2);
  fast_case_compare (graph, -2, -1);
  fast_case_compare (graph, 0, 1e-45);
}

/* Examples of forms of data: the definition's numbers. */
static void
test_definition (void)
{
  static const struct { float x[4]; guint8 codes[4]; double scale, zero; } rows[] =
  {
    { { 1, 2, 3, -1 }, { 128, 191, 255, 0 }, 4 / 255.0, 64 },
    { { 5, 5, 5, 5 }, { 255, 255, 255, 255 }, 5 / 255.0, 0 },
    { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, 1, 0 },
    { { NAN, 1, 0, 0.25f }, { 0, 255, 0, 64 }, 1 / 255.0, 0 },
    { { INFINITY, 1, 0, 2 }, { 0, 0, 0, 0 }, INFINITY, 0 },
  };
  g_autoptr (LptGraph) graph = fast_case_graph ("%x = Parameter : f32[4]\n"
                                                "%q = DynamicQuantize(%x) : u8[4] q{scale=1}, f32[], u8[] q{scale=1}\n"
                                                "Result(%q)\nResult(%q.1)\nResult(%q.2)\n", "definition");
  guint i, k, flags;

  for (i = 0; i < G_N_ELEMENTS (rows); i++)
    for (flags = 0; flags <= 1; flags++)
      {
        g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
        g_autoptr (GPtrArray) outputs = NULL;
        const double x[4] = { rows[i].x[0], rows[i].x[1], rows[i].x[2], rows[i].x[3] };
        const LptShape shape = { 1, { 4 } };

        g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, x, NULL));
        outputs = fast_run (graph, flags ? LPT_PLAN_REFERENCE : 0, 1, inputs);
        for (k = 0; k < 4; k++)
          g_assert_cmpfloat (lpt_tensor_get_f64 (outputs->pdata[0], k), ==, rows[i].codes[k]);
        g_assert_cmpfloat (lpt_tensor_get_f64 (outputs->pdata[1], 0), ==, (float) rows[i].scale);
        g_assert_cmpfloat (lpt_tensor_get_f64 (outputs->pdata[2], 0), ==, rows[i].zero);
      }
}

/* Codes, steps and zero points as TensorFlow Lite finds them: their values are what DynamicFakeQuantize gives. */
static void
test_litert (void)
{
  static const double x[16] = { 1, 2, 3, -1, 5, 5, 5, 5, 0, 0, 0, 0, -3.5, 0.013725, 2.5, -0.5 };
  static const guint8 codes[16] = { 128, 191, 255, 0, 255, 255, 255, 255, 128, 128, 128, 128, 0, 150, 255, 128 };
  const LptShape shape = { 2, { 4, 4 } };
  g_autoptr (LptGraph) graph = fast_case_graph (
      "%x = Parameter : f32[4,4]\n"
      "%q = DynamicQuantize(%x) {axis=1, litert=true} : u8[4,4] q{scale=1}, f32[4,1], u8[4,1] q{scale=1}\n"
      "%p = DynamicQuantize(%x) {axis=1, symmetric=true, litert=true}"
      " : i8[4,4] q{scale=1}, f32[4,1], i8[4,1] q{scale=1}\n"
      "%f = DynamicFakeQuantize(%x) {axis=1, symmetric=false} : f32[4,4]\n"
      "%g = DynamicFakeQuantize(%x) {axis=1} : f32[4,4]\n"
      "Result(%q)\nResult(%q.1)\nResult(%q.2)\nResult(%f)\nResult(%p)\nResult(%p.1)\nResult(%g)\n", "litert");

  for (guint flags = 0; flags <= 1; flags++)
    {
      g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) lpt_tensor_unref);
      g_autoptr (GPtrArray) y = NULL;

      g_ptr_array_add (inputs, lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, x, NULL));
      y = fast_run (graph, flags ? LPT_PLAN_REFERENCE : 0, 1, inputs);
      for (guint i = 0; i < 16; i++)
        {
          const float code = (float) lpt_tensor_get_f64 (y->pdata[0], i);
          const float scale = (float) lpt_tensor_get_f64 (y->pdata[1], i / 4);
          const float zero = (float) lpt_tensor_get_f64 (y->pdata[2], i / 4);
          const float step = (float) lpt_tensor_get_f64 (y->pdata[5], i / 4);
          const float around = (float) lpt_tensor_get_f64 (y->pdata[4], i) * step;

          g_assert_cmpfloat (code, ==, codes[i]);
          g_assert_cmpfloat (scale * (code - zero), ==, (float) lpt_tensor_get_f64 (y->pdata[3], i));
          g_assert_cmpfloat (around, ==, (float) lpt_tensor_get_f64 (y->pdata[6], i));
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-dynamic/", cases[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_case);
    }
  g_test_add_func ("/fast-dynamic/definition", test_definition);
  g_test_add_func ("/fast-dynamic/litert", test_litert);

  return g_test_run ();
}
