/* test-fast-fourier.c - Fourier transforms have the bits of the plain op at every level and for every number of threads
 *
 * All four ops, along each axis, lengths whose transforms are split, summed, or both, cut and filled up; axes of one
 * element beside it; more lines than lanes, fewer, and neighbours in memory. Several axes stay with the plain op.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "fast-case.h"

typedef struct
{
  const char *op;
  gboolean    pairs, pairs_out;
} Kind;

static const Kind kinds[] = { { "DFT", TRUE, TRUE }, { "IDFT", TRUE, TRUE }, { "RDFT", FALSE, TRUE },
                              { "IRDFT", TRUE, FALSE } };

/* [outer, length, inner] along axis 1; @size 0: none is given. */
static const struct { gint outer, length, inner, size; } shapes[] = {
  { 1, 8, 1, 0 }, { 3, 16, 1, 0 }, { 2, 12, 19, 0 }, { 17, 5, 1, 0 }, { 1, 30, 8, 0 }, { 5, 2, 3, 0 }, { 3, 7, 5, 12 },
  { 3, 20, 5, 8 }, { 2, 3, 16, 64 }, { 9, 33, 1, 9 }, { 2, 4, 3, 2 }, { 40, 9, 40, 18 }, { 1, 65, 2, 128 },
};

static gint
length_out (const Kind *kind,
            gint        length,
            gint        size)
{
  if (size == 0)
    size = kind->pairs_out ? length : 2 * (length - 1);

  return kind->pairs ? size : size / 2 + 1;
}

static void
test_bits (gconstpointer data)
{
  const Kind *kind = data;
  guint k;

  for (k = 0; k < G_N_ELEMENTS (shapes); k++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint out = length_out (kind, shapes[k].length, shapes[k].size);

      g_string_append_printf (text, "%%x = Parameter : f32[%d,%d,%d%s]\n%%a = Const {%d} : i64[1]\n", shapes[k].outer,
                              shapes[k].length, shapes[k].inner, kind->pairs ? ",2" : "", k % 2 ? 1 : -2);
      if (shapes[k].size > 0)
        g_string_append_printf (text, "%%s = Const {%d} : i64[1]\n", shapes[k].size);
      g_string_append_printf (text, "%%y = %s(%%x, %%a%s) : f32[%d,%d,%d%s]\nResult(%%y)\n", kind->op,
                              shapes[k].size > 0 ? ", %s" : "", shapes[k].outer, out, shapes[k].inner,
                              kind->pairs_out ? ",2" : "");
      fast_case_compare_text (text->str, -3, 3);
    }
}

/* The first axis has one element. */
static void
test_axes (void)
{
  fast_case_compare_text ("%x = Parameter : f32[4,1,32]\n%a = Const {1, 2} : i64[2]\n%s = Const {1, 32} : i64[2]\n"
                          "%y = RDFT(%x, %a, %s) : f32[4,1,17,2]\nResult(%y)\n", -1, 1);
  fast_case_compare_text ("%x = Parameter : f32[4,1,17,2]\n%a = Const {1, 2} : i64[2]\n%s = Const {1, 32} : i64[2]\n"
                          "%y = IRDFT(%x, %a, %s) : f32[4,1,32]\nResult(%y)\n", -1, 1);
}

/* What is left to the plain op is as it was. */
static void
test_others (void)
{
  static const char *const texts[] = {
    "%x = Parameter : f32[3,6,10,2]\n%a = Const {1, 2} : i64[2]\n%y = DFT(%x, %a) : f32[3,6,10,2]\nResult(%y)\n",
    "%x = Parameter : f32[3,6,9,2]\n%a = Const {2, 1} : i64[2]\n%s = Const {9, 1} : i64[2]\n"
    "%y = IRDFT(%x, %a, %s) : f32[3,1,9]\nResult(%y)\n",
  };
  guint k;

  for (k = 0; k < G_N_ELEMENTS (texts); k++)
    {
      g_autoptr (LptGraph) graph = fast_case_read (texts[k], "others");

      fast_case_compare (graph, -1, 1);
    }
}

int
main (int    argc,
      char **argv)
{
  guint k;

  g_test_init (&argc, &argv, NULL);
  for (k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      g_autofree char *path = g_strconcat ("/fast-fourier/", kinds[k].op, NULL);

      g_test_add_data_func (path, &kinds[k], test_bits);
    }
  g_test_add_func ("/fast-fourier/axes", test_axes);
  g_test_add_func ("/fast-fourier/others", test_others);

  return g_test_run ();
}
