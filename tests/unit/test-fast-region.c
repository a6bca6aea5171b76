/* test-fast-region.c - element-wise regions become tables, with the bytes of the steps that they replace
 *
 * In each family of requant modes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-text.h>

#include "executor/lpt-plan.h"
#include "fast-case.h"

typedef struct
{
  const char *name;
  guint       tables;      /* fast ops that are tables */
  const char *graph;
} Case;

#define CODES(type, zp) "%x = Parameter : f32[1,4,16,16]\n%q = Quantize(%x) : " type "[1,4,16,16] q{scale=0.04, zp=" zp "}\n"
#define V(type) " : " type "[1,4,16,16]"
#define F V ("f32") "\n"

#define RESIZE(x, type, quant) "%h = Const {32, 48} : i64[2]\n%i = Const {2, 3} : i64[2]\n%r = Interpolate(%" #x ", %h, %i) {mode=nearest," \
  " shape_calculation_mode=sizes, coordinate_transformation_mode=asymmetric, nearest_mode=floor} : " type "[1,4,32,48]" quant

static const Case cases[] =
{
  { "silu", 1, CODES ("u8", "128")
    "%s = Sigmoid(%q)" V ("u8") " q{scale=0.00390625}\n"
    "%y = Multiply(%q, %s) #{relaxed}" V ("u8") " q{scale=0.03, zp=10}\n"
    "Result(%y)\n" },
  { "silu-signed", 1, CODES ("i8", "0")
    "%s = Sigmoid(%q)" V ("i8") " q{scale=0.00390625, zp=-128}\n"
    "%y = Multiply(%s, %q) #{relaxed}" V ("i8") " q{scale=0.03, zp=-100}\n"
    "Result(%y)\n" },
  /* The sigmoid is asked for too: it stays, and the product does not read it. */
  { "sigmoid-read", 2, CODES ("i8", "0")
    "%s = Sigmoid(%q)" V ("i8") " q{scale=0.00390625, zp=-128}\n"
    "%y = Multiply(%s, %q) #{relaxed}" V ("i8") " q{scale=0.03, zp=-100}\n"
    "Result(%y)\nResult(%s)\n" },
  { "gelu", 1, CODES ("u8", "128")
    "%d = Dequantize(%q)" F
    "%c = Const {0.7071067811865475} : f32[1,1]\n%one = Const {1} : f32[]\n%half = Const {0.5, 0.5, 0.5, 0.5} : f32[1,4,1,1]\n"
    "%m = Multiply(%d, %c)" F "%e = Erf(%m)" F "%p = Add(%e, %one)" F "%h = Multiply(%d, %half)" F "%g = Multiply(%h, %p)" F
    "%y = Quantize(%g)" V ("i8") " q{scale=0.04, zp=-120}\n"
    "Result(%y)\n" },
  /* Two dequantizations of the same codes, one behind another reading of them. */
  { "reinterpreted", 1, CODES ("u8", "128")
    "%r = Reinterpret(%q)" V ("u8") " q{scale=0.01, zp=3}\n"
    "%a = Dequantize(%q)" F "%b = Dequantize(%r)" F "%t = Tanh(%b)" F "%g = Maximum(%a, %t)" F
    "%y = Quantize(%g)" V ("u8") " q{scale=0.02, zp=128}\n"
    "Result(%y)\n" },
  /* Quantized in the middle; both halves are read, so both are tables. */
  { "two-stages", 2, CODES ("u8", "128")
    "%d = Dequantize(%q)" F "%lo = Const {-1} : f32[1]\n%a = Minimum(%d, %lo)" F
    "%k = Quantize(%a)" V ("u8") " q{scale=0.02, zp=255}\n"
    "%f = Dequantize(%k)" F "%h = HSwish(%f)" F "%n = Subtract(%h, %lo)" F
    "%y = Quantize(%n)" V ("u8") " q{scale=0.01}\n"
    "Result(%k)\nResult(%y)\n" },
  /* Behind a Resize of nearest codes tables are done before it, where nobody else reads what lies between. */
  { "resized", 1, CODES ("u8", "128") "%s = Sigmoid(%q)" V ("u8") " q{scale=0.00390625}\n" RESIZE (s, "u8", " q{scale=0.00390625}\n")
    "%d = Dequantize(%r) : f32[1,4,32,48]\n%y = Quantize(%d) : i8[1,4,32,48] q{scale=0.01, zp=-100}\n"
    "%z = Relu(%y) : i8[1,4,32,48] q{scale=0.01, zp=-100}\nResult(%z)\n" },
  { "resized-signed", 1, CODES ("i8", "3") "%s = Tanh(%q)" V ("i8") " q{scale=0.01, zp=-5}\n" RESIZE (s, "i8", " q{scale=0.01, zp=-5}\n")
    "%d = Dequantize(%r) : f32[1,4,32,48]\n%y = Quantize(%d) : u8[1,4,32,48] q{scale=0.02, zp=100}\nResult(%y)\n" },
  { "resized-and-read", 2, CODES ("u8", "128") "%s = Sigmoid(%q)" V ("u8") " q{scale=0.00390625}\n" RESIZE (s, "u8", " q{scale=0.00390625}\n")
    "%d = Dequantize(%r) : f32[1,4,32,48]\n%y = Quantize(%d) : i8[1,4,32,48] q{scale=0.01, zp=-100}\nResult(%y)\nResult(%s)\n" },
  { "resized-for-two", 2, CODES ("u8", "128") "%s = Sigmoid(%q)" V ("u8") " q{scale=0.00390625}\n" RESIZE (s, "u8", " q{scale=0.00390625}\n")
    "%d = Dequantize(%r) : f32[1,4,32,48]\n%y = Quantize(%d) : i8[1,4,32,48] q{scale=0.01, zp=-100}\nResult(%y)\nResult(%r)\n" },
  /* What lies between is asked for, too: the codes have two readers. */
  { "inner-read", 1, CODES ("i8", "0")
    "%d = Dequantize(%q)" F "%e = Elu(%d) {alpha=0}" F "%y = Quantize(%e)" V ("u8") " q{scale=0.02}\n"
    "%k = Const {3, 2} : i64[2]\n%m = ReduceMean(%e, %k) {keep_dims=true} : f32[1,4,1,1]\n"
    "Result(%y)\nResult(%m)\n" },
  { "own-sum", 1, CODES ("u8", "128")
    "%r = Relu(%q)" V ("u8") " q{scale=0.04, zp=128}\n"
    "%y = Add(%q, %r) #{relaxed}" V ("u8") " q{scale=0.05, zp=100}\n"
    "Result(%y)\n" },
  { "constant-codes", 1, CODES ("u8", "128")
    "%c = Const {200} : u8[1] q{scale=0.01, zp=20}\n"
    "%y = Multiply(%q, %c) #{relaxed}" V ("u8") " q{scale=0.06, zp=100}\n"
    "Result(%y)\n" },
  /* Not functions of one code: */
  { "constant-varies", 0, CODES ("u8", "128")
    "%d = Dequantize(%q)" F "%c = Const {0.5, 1, 0.5, 0.5} : f32[1,4,1,1]\n%m = Multiply(%d, %c)" F
    "%y = Quantize(%m)" V ("u8") " q{scale=0.04, zp=128}\n"
    "Result(%y)\n" },
  { "scale-per-channel", 0, 
    "%x = Parameter : f32[1,4,16,16]\n%q = Quantize(%x)" V ("u8") " q{axis=1, scale=[0.01,0.02,0.03,0.04], zp=[128,128,128,128]}\n"
    "%d = Dequantize(%q)" F "%a = Abs(%d)" F
    "%y = Quantize(%a)" V ("u8") " q{scale=0.02}\n"
    "Result(%y)\n" },
  { "two-sources", 0, CODES ("u8", "128")
    "%z = Quantize(%x)" V ("u8") " q{scale=0.1, zp=50}\n"
    "%a = Multiply(%q, %z) #{relaxed}" V ("u8") " q{scale=0.1, zp=30}\n"
    "Result(%a)\n" },
  { "spread", 1, 
    "%x = Parameter : f32[1,4,16,16]\n%w = Parameter : f32[1,1,1,16]\n%v = Quantize(%w) : u8[1,1,1,16] q{scale=0.02, zp=128}\n"
    "%d = Dequantize(%v) : f32[1,1,1,16]\n%shape = Const {1,4,16,16} : i64[4]\n"
    "%s = Broadcast(%d, %shape)" F
    "%y = Quantize(%s)" V ("u8") " q{scale=0.04, zp=128}\n"
    "%z = Subtract(%y, %y) #{relaxed}" V ("u8") " q{scale=0.04, zp=128}\n"
    "Result(%y)\nResult(%z)\nResult(%x)\n" },
};

static const char *const modes[] = { "single", "litert", "litert-double", "litert-single", "xnnpack", "onnx", "tpu", "snps" };

static LptGraph *
read_case (const Case *c,
           const char *mode)
{
  g_autofree char *text = g_strconcat ("graph \"g\" {lowered=true, requant=\"", mode, "\"}\n", c->graph, NULL);
  g_autoptr (GError) error = NULL;
  LptGraph *graph = lpt_graph_from_text (text, -1, c->name, &error);

  g_assert_no_error (error);

  return graph;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  guint i, k;

  for (k = 0; k < G_N_ELEMENTS (modes); k++)
    {
      g_autoptr (LptGraph) graph = read_case (c, modes[k]);
      g_autoptr (GError) error = NULL;
      g_autoptr (LptPlan) plan = lpt_plan_new (graph, NULL, 0, &error);
      guint tables = 0;

      g_assert_no_error (error);
      for (i = 0; i < plan->program->ops->len; i++)
        {
          const LptProgramOp *op = plan->program->ops->pdata[i];

          tables += op->has_form && strcmp (op->form.kernel, "table_u8") == 0;
        }
      g_assert_cmpuint (tables, ==, c->tables);
      fast_case_compare (graph, -6, 6);
    }
}

int
main (int argc, char **argv)
{
  guint i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/fast-region/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
