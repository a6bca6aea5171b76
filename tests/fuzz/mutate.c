/* mutate.c - changes to a graph in its text form
 *
 * A statement is a line. What is changed: who reads what, numbers (attributes, shapes, constants), element types, ops,
 * opsets, quantization; statements are drawn from a list of phrases and set between a value and its readers, taken out,
 * or written again. Types that follow from others are left out mostly, so that inference finds the new ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/mutate-text.h"

#include <lpt/lpt-graph.h>

#include <string.h>

#define MAX_LINES 400

/* --- statements ------------------------------------------------------------ */

/* What a statement defines, "%x" (transfer full), or NULL. */
static char *
defined (const char *line)
{
  const char *p = line;
  while (*p == ' ')
    p++;
  gsize n = value_length (p);
  return n > 0 && g_str_has_prefix (p + n, " = ") ? g_strndup (p, n) : NULL;
}

static gboolean
is_op (const char *line, const char *op)
{
  const char *equals = strstr (line, " = ");
  return equals != NULL && g_str_has_prefix (equals + 3, op);
}

static gboolean
is_result (const char *line)
{
  return strstr (line, "Result(") != NULL && strstr (line, " = ") == NULL;
}

/* A line that is a statement; bodies' lines are indented. */
static gint
draw_statement (GPtrArray *lines, GRand *rand)
{
  for (guint k = 0; k < 20; k++)
    {
      guint i = draw (rand, lines->len);
      g_autofree char *name = defined (lines->pdata[i]);
      if (name != NULL)
        return (gint) i;
    }
  return -1;
}

/* A value that a statement above line @below defines, not a constant mostly (transfer full), or NULL. */
static char *
draw_value (GPtrArray *lines, guint below, GRand *rand)
{
  for (guint k = 0; below > 0 && k < 20; k++)
    {
      guint i = draw (rand, MIN (below, lines->len));
      char *name = defined (lines->pdata[i]);
      if (name != NULL && (k > 15 || !is_op (lines->pdata[i], "Const ")))
        return name;
      g_free (name);
    }
  return NULL;
}

/* Leaves out the types of statements that follow from their inputs. */
static void
drop_types (GPtrArray *lines, GRand *rand)
{
  for (guint i = 0; i < lines->len; i++)
    {
      const char *line = lines->pdata[i], *colon = strrchr (line, ':');
      if (colon == NULL || colon == line || colon[-1] != ' ' || is_op (line, "Parameter") || is_op (line, "Const ")
          || strstr (line, "#{relaxed") != NULL || strstr (line, "], ") != NULL || g_str_has_suffix (line, "{")
          || strstr (colon, " q{") != NULL || strchr (colon, '"') != NULL || chance (rand, 3))
        continue;
      replace (lines, i, (Span) { (gsize) (colon - 1 - line), strlen (line) }, "");
    }
}

/* --- what is drawn --------------------------------------------------------- */

static const char *const types[] = { "f32", "f16", "bf16", "f64", "i64", "i32", "u32",    "u64",
                                     "i16", "u16", "i8",   "u8",  "i4",  "u4",  "boolean" };

static gboolean
is_type (const char *word, gsize n)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strlen (types[i]) == n && strncmp (types[i], word, n) == 0)
      return TRUE;
  return FALSE;
}

static char *
draw_number (const char *old, gsize n, GRand *rand)
{
  static const char *const odd[] = {
    "-1", "-2", "-128", "127", "128", "255", "256", "65535", "1000000", "2147483647", "-2147483648", "9223372036854775807",
    "-9223372036854775808", "0.5", "1e-8", "3e38", "1e300", "inf", "nan", "-0",
  };
  g_autofree char *text = g_strndup (old, n);
  gint64 value = g_ascii_strtoll (text, NULL, 10);
  switch (draw (rand, 6))
    {
    case 0:
      return g_strdup (odd[draw (rand, G_N_ELEMENTS (odd))]);
    case 1:
      return g_strdup_printf ("%" G_GINT64_FORMAT, value < 1000000 ? value + 1 : 1);
    case 2:
      return g_strdup_printf ("%" G_GINT64_FORMAT, value > -1000000 ? value - 1 : 1);
    case 3:
      return g_strdup_printf ("%" G_GINT64_FORMAT, value < 1000000 && value > -1000000 ? value * 2 : 2);
    default:
      return g_strdup_printf ("%u", draw (rand, 10));
    }
}

/* What is set between a value and its readers: "$" = the value, "$2" = another one, "&1", "&2" = new constants, "@" =
 * the result. */
static const char *const phrases[] = {
  "@ = Relu($)",
  "@ = Sigmoid($)",
  "@ = Negative($)",
  "@ = Abs($)",
  "@ = Sqrt($)",
  "@ = Exp($)",
  "@ = Round($)",
  "@ = HSwish($)",
  "@ = Gelu($)",
  "@ = Tanh($)",
  "@ = Floor($)",
  "@ = Mish($)",
  "@ = SoftPlus($)",
  "@ = Erf($)",
  "@ = Clamp($) {min=-1, max=2}",
  "@ = Elu($) {alpha=1}",
  "@ = Convert($) {destination_type=f16}",
  "@ = Convert($) {destination_type=i8}",
  "@ = Convert($) {destination_type=u8}",
  "@ = Convert($) {destination_type=f32}",
  "@ = Convert($) {destination_type=i64}",
  "@ = Convert($) {destination_type=boolean}",
  "@ = Add($, $2)",
  "@ = Multiply($, $2)",
  "@ = Subtract($, $2)",
  "@ = Maximum($, $2)",
  "@ = Divide($, $2)",
  "@ = Add($, $)",
  "@ = Multiply($, $)",
  "@ = Concat($, $2) {axis=1}",
  "@ = Concat($, $) {axis=0}",
  "@ = Concat($, $) {axis=-1}",
  "@ = MatMul($, $2)",
  "@ = Less($, $2)",
  "@ = FloorMod($, $2)",
  "@ = SquaredDifference($, $2)",
  "@ = PRelu($, $2)",
  "@ = ConvertLike($, $2)",
  "&1 = Const {0.5} : f32[]\n@ = Multiply($, &1)",
  "&1 = Const {3} : f32[]\n@ = Add($, &1)",
  "&1 = Const {-128} : f32[]\n@ = Subtract($, &1)",
  "&1 = Const {0.1, 0.2} : f32[1,2,1,1]\n@ = Multiply($, &1)",
  "&1 = Const {1, 2, 3} : f32[1,3,1,1]\n@ = Multiply($, &1)",
  "&1 = Const {0.5, 0.5} : f32[2]\n@ = Multiply($, &1)",
  "&1 = Const {2} : f32[]\n@ = Power($, &1)",
  "&1 = Const {0} : f32[]\n&2 = Const {2.55} : f32[]\n@ = FakeQuantize($, &1, &2, &1, &2) {levels=256}",
  "&1 = Const {-1.28} : f32[]\n&2 = Const {1.27} : f32[]\n@ = FakeQuantize($, &1, &2, &1, &2) {levels=256}",
  "&1 = Const {0, 0} : f32[1,2,1,1]\n&2 = Const {1, 2.55} : f32[1,2,1,1]\n"
  "@ = FakeQuantize($, &1, &2, &1, &2) {levels=256}",
  "&1 = Const {-1} : f32[]\n&2 = Const {1} : f32[]\n@ = FakeQuantize($, &1, &2, &1, &2) {levels=16}",
  "&1 = Const {1} : i64[]\n@ = Softmax@1($)",
  "@ = Softmax@8($) {axis=-1}",
  "@ = LogSoftmax($) {axis=1}",
  "&1 = Const {1} : i64[1]\n@ = ReduceMean($, &1) {keep_dims=true}",
  "&1 = Const {-1} : i64[1]\n@ = ReduceSum($, &1) {keep_dims=true}",
  "&1 = Const {2, 3} : i64[2]\n@ = ReduceMax($, &1) {keep_dims=false}",
  "&1 = Const {1} : i64[1]\n@ = ReduceL2($, &1) {keep_dims=true}",
  "&1 = Const {-1} : i64[1]\n@ = MVN@6($, &1) {eps=1e-5, normalize_variance=true, eps_mode=inside_sqrt}",
  "&1 = Const {1} : i64[1]\n@ = NormalizeL2($, &1) {eps=1e-5, eps_mode=add}",
  "&1 = Const {0, 2, 3, 1} : i64[4]\n@ = Transpose($, &1)",
  "&1 = Const {1, 0} : i64[2]\n@ = Transpose($, &1)",
  "&1 = Const {0, -1} : i64[2]\n@ = Reshape($, &1) {special_zero=true}",
  "&1 = Const {-1} : i64[1]\n@ = Reshape($, &1) {special_zero=false}",
  "&1 = Const {0} : i64[1]\n@ = Unsqueeze($, &1)",
  "&1 = Const {0} : i64[1]\n@ = Squeeze($, &1)",
  "&1 = Const {0, 0} : i64[2]\n&2 = Const {1} : i64[]\n@ = Gather($, &1, &2)",
  "&1 = Const {1, 2, 1, 1} : i64[4]\n@ = Tile($, &1)",
  "&1 = Const {0, 0, 1, 1} : i64[4]\n&2 = Const {0} : f32[]\n@ = Pad($, &1, &1, &2) {pad_mode=constant}",
  "&1 = Const {0, 0, 1, 1} : i64[4]\n@ = Pad($, &1, &1) {pad_mode=reflect}",
  "&1 = Const {0} : i64[1]\n&2 = Const {1} : i64[1]\n@ = Slice($, &1, &2, &2, &2)",
  "@ = MaxPool@1($) {kernel=[2,2], strides=[1,1], pads_begin=[0,0], pads_end=[1,1]}",
  "@ = AvgPool@1($) {kernel=[2,2], strides=[2,2], pads_begin=[0,0], pads_end=[0,0], exclude-pad=true}",
  "@ = DepthToSpace($) {block_size=2, mode=blocks_first}",
  "@ = DepthToSpace($) {block_size=2, mode=depth_first}",
  "@ = SpaceToDepth($) {block_size=2, mode=blocks_first}",
  "@ = ShuffleChannels($) {axis=1, group=2}",
  "@ = ShapeOf($)",
  "&1 = Const {1} : i64[]\n@ = CumSum($, &1)",
  "&1 = Const {1, 2, 2, 2} : i64[4]\n@ = Broadcast($, &1) {mode=bidirectional}",
  "&1 = Const {1, 0, -1, 0, 1, 0, 0, 0, 1} : f32[1,1,3,3]\n"
  "@ = Convolution($, &1) {strides=[1,1], pads_begin=[1,1], pads_end=[1,1], dilations=[1,1]}",
  "&1 = Const {1, 0.5, -1, 0.25} : f32[2,2,1,1]\n"
  "@ = Convolution($, &1) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}",
  "&1 = Const {1, 0.5} : f32[2,1,1,1,1]\n"
  "@ = GroupConvolution($, &1) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}",
  "&1 = Const {1, -2, 3, 4} : i8[2,2,1,1]\n&2 = Convert(&1) {destination_type=f32}\n"
  "@ = Convolution($, &2) {strides=[1,1], pads_begin=[0,0], pads_end=[0,0], dilations=[1,1]}",
  "&1 = Const {1, 0.5, -1, 0.25} : f32[2,2]\n@ = MatMul($, &1)",
  "&1 = Const {1, 0.5, -1, 0.25} : f32[2,2]\n@ = MatMul($, &1) {transpose_b=true}",
  "&1 = Const {3} : i64[]\n@ = OneHot($, &1, $, $) {axis=-1}",
  "@ = NonZero($) {output_type=i64}",
  "@ = IsNaN($)",
  "@ = Reverse($, &1) {mode=index}",
  "@ = LogicalNot($)",
  "@ = Select($, $2, $2)",
  "@ = GRN($) {bias=1}",
};

/* --- changes --------------------------------------------------------------- */

static void
change_operand (GPtrArray *lines, GRand *rand)
{
  guint i = draw (rand, lines->len);
  g_autoptr (GArray) spans = find (lines->pdata[i], VALUES);
  g_autofree char *value = draw_value (lines, chance (rand, 90) ? i : lines->len, rand);
  if (spans->len > 0 && value != NULL)
    replace (lines, i, g_array_index (spans, Span, draw (rand, spans->len)), value);
}

static void
change_number (GPtrArray *lines, GRand *rand)
{
  guint i = draw (rand, lines->len);
  g_autoptr (GArray) spans = find (lines->pdata[i], NUMBERS);
  if (spans->len == 0)
    return;
  Span span = g_array_index (spans, Span, draw (rand, spans->len));
  g_autofree char *number = draw_number ((const char *) lines->pdata[i] + span.from, span.to - span.from, rand);
  replace (lines, i, span, number);
}

static void
change_type (GPtrArray *lines, GRand *rand)
{
  guint i = draw (rand, lines->len);
  g_autoptr (GArray) spans = find (lines->pdata[i], WORDS);
  guint at = draw (rand, spans->len);
  for (guint k = 0; k < spans->len; k++)
    {
      Span span = g_array_index (spans, Span, (at + k) % spans->len);
      if (!is_type ((const char *) lines->pdata[i] + span.from, span.to - span.from))
        continue;
      replace (lines, i, span, types[draw (rand, G_N_ELEMENTS (types))]);
      return;
    }
}

static void
change_op (GPtrArray *lines, GRand *rand)
{
  gint i = draw_statement (lines, rand);
  const char *line = i >= 0 ? lines->pdata[i] : NULL, *op = line != NULL ? strstr (line, " = ") + 3 : NULL;
  gsize n = op != NULL ? word_length (op) : 0;
  g_autofree char *old = g_strndup (op != NULL ? op : "", n);
  const LptOpInfo *from = n > 0 ? lpt_op_find (old) : NULL;
  for (guint k = 0; from != NULL && k < 100; k++)
    {
      const LptOpInfo *to = lpt_op_info ((LptOp) draw (rand, LPT_N_OPS));
      if (to == NULL || to->min_in > from->max_in || to->max_in < from->min_in || to->op == LPT_OP_PARAMETER ||
          to->op == LPT_OP_RESULT)
        continue;
      replace (lines, (guint) i, (Span) { (gsize) (op - line), (gsize) (op - line) + n }, to->name);
      return;
    }
}

static void
change_opset (GPtrArray *lines, GRand *rand)
{
  gint i = draw_statement (lines, rand);
  const char *line = i >= 0 ? lines->pdata[i] : NULL, *op = line != NULL ? strstr (line, " = ") + 3 : NULL;
  if (op == NULL)
    return;
  gsize at = (gsize) (op - line) + word_length (op), end = at;
  g_autofree char *version = g_strdup_printf ("@%u", 1 + draw (rand, 16));
  if (line[at] == '@')
    end += 1 + number_length (line + at + 1);
  replace (lines, (guint) i, (Span) { at, end }, chance (rand, 80) ? version : "");
}

static void
change_quantization (GPtrArray *lines, GRand *rand)
{
  static const char *const quants[] = {
    "", " q{scale=0.02, zp=128}", " q{scale=0.5}", " q{scale=1, zp=-3}", " q{scale=0.01, zp=7}", " q{scale=1e-30}",
    " q{axis=1, scale=[0.01,0.02]}", " q{axis=0, scale=[0.5,0.25,0.1], zp=[1,2,3]}",
  };
  guint i = draw (rand, lines->len);
  const char *line = lines->pdata[i], *have = strstr (line, " q{"), *colon = strrchr (line, ':');
  const char *close = have != NULL ? strchr (have, '}') : colon != NULL ? strchr (colon, ']') : NULL;
  if (close == NULL)
    return;
  gsize end = (gsize) (close - line) + 1;
  replace (lines, i, (Span) { have != NULL ? (gsize) (have - line) : end, end },
           quants[draw (rand, G_N_ELEMENTS (quants))]);
}

/* Everything that reads @old below line @from reads @new (NULL = some of it). */
static void
redirect (GPtrArray *lines, guint from, const char *old, const char *new, GRand *rand)
{
  for (guint i = from; i < lines->len; i++)
    {
      g_autoptr (GArray) spans = find (lines->pdata[i], VALUES);
      for (guint k = spans->len; k-- > 0;)
        {
          Span span = g_array_index (spans, Span, k);
          const char *text = (const char *) lines->pdata[i] + span.from;
          if (strlen (old) == span.to - span.from && strncmp (text, old, strlen (old)) == 0 && chance (rand, 80))
            replace (lines, i, span, new);
        }
    }
}

/* The phrase with its places filled, as lines (transfer full). */
static char **
fill (const char *phrase, const char *value, const char *other, const char *indent, guint id)
{
  g_autoptr (GString) text = g_string_new (indent);
  for (const char *p = phrase; *p != '\0'; p++)
    if (*p == '$' && p[1] == '2')
      {
        g_string_append (text, other);
        p++;
      }
    else if (*p == '$')
      g_string_append (text, value);
    else if (*p == '&')
      g_string_append_printf (text, "%%drawn_%u_%c", id, *++p);
    else if (*p == '@' && (p == phrase || p[-1] == '\n'))
      g_string_append_printf (text, "%%drawn_%u", id);
    else if (*p == '\n')
      g_string_append_printf (text, "\n%s", indent);
    else
      g_string_append_c (text, *p);
  return g_strsplit (text->str, "\n", -1);
}

static void
graft (GPtrArray *lines, GRand *rand)
{
  gint at = draw_statement (lines, rand);
  if (at < 0 || lines->len > MAX_LINES || g_str_has_suffix (lines->pdata[at], "{"))
    return;
  const char *line = lines->pdata[at];
  g_autofree char *value = defined (line), *indent = g_strndup (line, strspn (line, " "));
  g_autofree char *other = draw_value (lines, (guint) at + 1, rand);
  guint id = g_rand_int (rand) % 100000;
  g_autofree char *result = g_strdup_printf ("%%drawn_%u", id);
  redirect (lines, (guint) at + 1, value, result, rand);
  g_auto (GStrv) more = fill (phrases[draw (rand, G_N_ELEMENTS (phrases))], value, other != NULL ? other : value,
                              indent, id);
  for (guint k = 0; more[k] != NULL; k++)
    g_ptr_array_insert (lines, at + 1 + (gint) k, g_strdup (more[k]));
}

/* Readers read what the statement reads. */
static void
take_out (GPtrArray *lines, GRand *rand)
{
  gint i = draw_statement (lines, rand);
  if (i < 0 || g_str_has_suffix (lines->pdata[i], "{"))
    return;
  g_autofree char *name = defined (lines->pdata[i]);
  g_autoptr (GArray) spans = find (lines->pdata[i], VALUES);
  if (spans->len == 0)
    return;
  Span span = g_array_index (spans, Span, 0);
  g_autofree char *source = g_strndup ((const char *) lines->pdata[i] + span.from, span.to - span.from);
  g_ptr_array_remove_index (lines, (guint) i);
  redirect (lines, (guint) i, name, source, rand);
}

/* The statement once more under another name, which some readers take. */
static void
write_again (GPtrArray *lines, GRand *rand)
{
  gint i = draw_statement (lines, rand);
  if (i < 0 || lines->len > MAX_LINES || g_str_has_suffix (lines->pdata[i], "{") ||
      is_op (lines->pdata[i], "Parameter"))
    return;
  const char *line = lines->pdata[i];
  g_autofree char *name = defined (line), *again = g_strdup_printf ("%%again_%u", g_rand_int (rand) % 100000);
  char *copy = g_strdup_printf ("%.*s%s%s", (int) strspn (line, " "), line, again,
                                line + strspn (line, " ") + strlen (name));
  redirect (lines, (guint) i + 1, name, again, rand);
  g_ptr_array_insert (lines, i + 1, copy);
}

static void
add_result (GPtrArray *lines, GRand *rand)
{
  g_autofree char *value = draw_value (lines, lines->len, rand);
  if (value != NULL)
    g_ptr_array_add (lines, g_strdup_printf ("Result(%s)", value));
}

static void
swap_lines (GPtrArray *lines, GRand *rand)
{
  guint a = draw (rand, lines->len), b = draw (rand, lines->len);
  gpointer line = lines->pdata[a];
  lines->pdata[a] = lines->pdata[b];
  lines->pdata[b] = line;
}

typedef void (*Change) (GPtrArray *lines, GRand *rand);

/* By how often each is drawn. */
static const struct { Change change; guint weight;
} changes[] = {
  { graft, 30 },       { change_number, 25 },      { change_operand, 12 }, { change_type, 8 },
  { change_op, 8 },    { change_quantization, 4 }, { take_out, 5 },        { write_again, 4 },
  { change_opset, 3 }, { add_result, 3 },          { swap_lines, 1 },
};

/* --- the whole ------------------------------------------------------------- */

static GPtrArray *
split (const char *text)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit (text, "\n", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0')
      g_ptr_array_add (lines, g_strdup (parts[i]));
  return lines;
}

static char *
join (GPtrArray *lines)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf (text, "%s\n", (char *) lines->pdata[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
change_once (GPtrArray *lines, GRand *rand)
{
  guint sum = 0;
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    sum += changes[i].weight;
  guint at = draw (rand, sum), i = 0;
  for (; at >= changes[i].weight; i++)
    at -= changes[i].weight;
  changes[i].change (lines, rand);
}

char *
mutate_graph (const char *text, GRand *rand)
{
  g_autoptr (GPtrArray) lines = split (text);
  for (guint k = 1 + draw (rand, 4); k > 0 && lines->len > 0; k--)
    change_once (lines, rand);
  if (chance (rand, 85))
    drop_types (lines, rand);
  return join (lines);
}

char *
mutate_cross (const char *text, const char *other, GRand *rand)
{
  g_autoptr (GPtrArray) lines = split (text), theirs = split (other);
  guint at = 0;
  while (at < lines->len && !is_result (lines->pdata[at]))
    at++;
  for (guint i = draw (rand, theirs->len), n = 1 + draw (rand, 8); n > 0 && i < theirs->len && lines->len <= MAX_LINES;
       n--, i++)
    {
      char *line = g_strdup (theirs->pdata[i]);
      if (is_result (line) || is_op (line, "Parameter") || *line == ' ' || g_str_has_suffix (line, "{") || *line != '%')
        {
          g_free (line);
          continue;
        }
      g_ptr_array_insert (lines, (gint) at, line);
      at++;
      /* What it reads are values of ours, where they have other names. */
      if (chance (rand, 70))
        {
          g_autoptr (GArray) spans = find (line, VALUES);
          g_autofree char *value = draw_value (lines, at - 1, rand);
          if (spans->len > 0 && value != NULL)
            replace (lines, at - 1, g_array_index (spans, Span, 0), value);
        }
    }
  add_result (lines, rand);
  drop_types (lines, rand);
  return join (lines);
}
