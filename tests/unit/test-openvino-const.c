/* test-openvino-const.c - constants of OpenVINO IR: where their bytes are, of which type, in which order
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <lpt/lpt-openvino.h>
#include <lpt/lpt-text.h>

#include <string.h>

/* A constant as the only output; @data are the attributes of its layer. */
static LptGraph *
parse (guint version, const char *data, const char *dims, const char *precision, GBytes *weights, GError **error)
{
  g_autofree char *xml = g_strdup_printf (
    "<net name=\"n\" version=\"%u\"><layers>"
    "<layer id=\"0\" name=\"c\" type=\"Const\" version=\"opset1\"><data %s/>"
    "<output><port id=\"0\" precision=\"%s\">%s</port></output></layer>"
    "<layer id=\"1\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\">%s</port></input></layer>"
    "</layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"0\"/></edges></net>",
    version, data, precision, dims, dims);
  return lpt_openvino_parse (xml, strlen (xml), weights, "n.xml", error);
}

#define FOUR "<dim>4</dim>"
#define PLACE(type, shape, offset, size) \
  "element_type=\"" type "\" shape=\"" shape "\" offset=\"" offset "\" size=\"" size "\""

static void
test_constants (void)
{
  static const guint8 bytes[] = { 0x21, 0x43, 0, 0, 128, 63, 0xff, 0xfe };
  static const struct { guint version; const char *data, *dims, *precision, *holds, *message; } rows[] = {
    /* the first of two is in the lower half of the byte, up to version 10 in the upper one */
    { 11, PLACE ("u4", "4", "0", "2"), FOUR, "U4", "{1, 2, 3, 4} : u4[4]", NULL },
    { 10, PLACE ("u4", "4", "0", "2"), FOUR, "U4", "{2, 1, 4, 3} : u4[4]", NULL },
    { 11, PLACE ("i4", "4", "6", "2"), FOUR, "I4", "{-1, -1, -2, -1} : i4[4]", NULL },
    { 10, PLACE ("i4", "4", "6", "2"), FOUR, "I4", "{-1, -1, -1, -2} : i4[4]", NULL },
    /* bits are bytes, the first is the highest of a byte */
    { 11, PLACE ("u1", "10", "0", "2"), "<dim>10</dim>", "U1", "{0, 0, 1, 0, 0, 0, 0, 1, 0, 1} : u8[10]", NULL },
    { 10, PLACE ("u1", "4", "1", "1"), FOUR, "BIN", "{0, 1, 0, 0} : u8[4]", NULL },
    { 11, PLACE ("u1", "10", "0", "1"), "<dim>10</dim>", "U1", NULL,
      "size 1 is too small: u1 of shape \"10\" takes 2 bytes" },
    { 11, PLACE ("u1", "80", "0", "10"), "<dim>80</dim>", "U1", NULL, "offset 0 + size 10 is past the end of" },
    { 10, PLACE ("u8", "4", "0", "4"), FOUR, "U8", "{33, 67, 0, 0} : u8[4]", NULL },
    { 11, PLACE ("f32", "", "2", "4"), "", "FP32", "{1} : f32[]", NULL },
    { 11, PLACE ("i8", "0", "99", "0"), "<dim>0</dim>", "I8", "{} : i8[0]", NULL },
    { 11, PLACE ("u8", "4", "5", "4"), FOUR, "U8", NULL, "offset 5 + size 4 is past the end of" },
    { 11, PLACE ("u8", "4", "99", "4"), FOUR, "U8", NULL, "offset 99 + size 4 is past the end of" },
    { 11, PLACE ("u8", "4", "0", "3"), FOUR, "U8", NULL, "size 3 is too small" },
    { 11, PLACE ("u9", "4", "0", "4"), FOUR, "U8", NULL, "u9" },
    { 11, PLACE ("u8", "4,x", "0", "4"), FOUR, "U8", NULL, "4,x" },
    { 11, PLACE ("u8", "4611686018427387904,4", "0", "4"), FOUR, "U8", NULL, "is too large" },
    { 11, "shape=\"4\" offset=\"0\" size=\"4\"", FOUR, "U8", NULL, "\"element_type\" is missing" },
    { 11, "element_type=\"u8\" shape=\"4\" value=\"AAAA\"", FOUR, "U8", NULL, "a constant with its bytes in the XML" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) weights = g_bytes_new_static (bytes, sizeof bytes);
      g_autoptr (LptGraph) graph = parse (rows[i].version, rows[i].data, rows[i].dims, rows[i].precision, weights,
                                          &error);
      if ((graph != NULL) != (rows[i].holds != NULL))
        g_error ("%u %s: %s", rows[i].version, rows[i].data, graph != NULL ? "taken" : error->message);
      if (graph == NULL && strstr (error->message, rows[i].message) == NULL)
        g_error ("%u %s: %s", rows[i].version, rows[i].data, error->message);
      g_autofree char *text = graph != NULL ? lpt_graph_to_text (graph, LPT_TEXT_DEFAULT) : NULL;
      if (graph != NULL && strstr (text, rows[i].holds) == NULL)
        g_error ("%u %s: %s", rows[i].version, rows[i].data, text);
    }
}

/* Without weights there are only constants without elements. */
static void
test_no_weights (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LptGraph) graph = parse (11, PLACE ("i8", "0", "0", "0"), "<dim>0</dim>", "I8", NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (graph);
  g_assert_null (parse (11, PLACE ("i8", "4", "0", "4"), FOUR, "I8", NULL, &error));
  g_assert_nonnull (strstr (error->message, "no weights for this constant"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/openvino-const/constants", test_constants);
  g_test_add_func ("/openvino-const/no-weights", test_no_weights);
  return g_test_run ();
}
