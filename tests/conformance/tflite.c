/* tflite.c - reads the models of the LiteRT data set
 *
 * A FlatBuffer is tables that point to each other by relative offsets; a table
 * begins with the distance back to its vtable, whose entry for a field is the
 * offset of its value, 0 when it is left out. Every read is checked against the
 * end of the file; what lies outside reads as 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tflite.h"

#include <string.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC (cJSON, cJSON_Delete)

typedef struct
{
  const guint8 *data;
  gsize         size;
} File;

/* Positions in the file; 0 = absent. */
typedef gsize Table;

static guint64
read_bytes (const File *f,
            gsize       at,
            guint       n)
{
  guint64 value = 0;

  if (at > f->size || f->size - at < n)
    return 0;
  for (guint i = 0; i < n; i++)
    value |= (guint64) f->data[at + i] << 8 * i;

  return value;
}

static gsize
follow (const File *f,
        gsize       at)
{
  return at == 0 ? 0 : at + read_bytes (f, at, 4);
}

/* Where field @id of @table lies. */
static gsize
field (const File *f,
       Table       table,
       guint       id)
{
  const gsize vtable = table - (gint32) read_bytes (f, table, 4);
  guint64 offset;

  if (table == 0 || 4 + 2 * id >= read_bytes (f, vtable, 2))
    return 0;
  offset = read_bytes (f, vtable + 4 + 2 * id, 2);

  return offset == 0 ? 0 : table + offset;
}

static gint64
number (const File *f,
        Table       table,
        guint       id,
        guint       bytes,
        gint64      fallback)
{
  const gsize at = field (f, table, id);
  const gint shift = 64 - 8 * bytes;

  return at == 0 ? fallback : (gint64) (read_bytes (f, at, bytes) << shift) >> shift;
}

static Table
child (const File *f,
       Table       table,
       guint       id)
{
  return follow (f, field (f, table, id));
}

static guint
length (const File *f,
        gsize       vector)
{
  return vector == 0 ? 0 : (guint) MIN (read_bytes (f, vector, 4), f->size);
}

static Table
table_at (const File *f,
          gsize       vector,
          guint       i)
{
  return i < length (f, vector) ? follow (f, vector + 4 + 4 * (gsize) i) : 0;
}

static gint32
int_at (const File *f,
        gsize       vector,
        guint       i)
{
  return (gint32) read_bytes (f, vector + 4 + 4 * (gsize) i, 4);
}

static float
float_at (const File *f,
          gsize       at)
{
  const guint32 bits = (guint32) read_bytes (f, at, 4);
  float value;

  memcpy (&value, &bits, sizeof value);

  return value;
}

/* --- tensors ---------------------------------------------------------------------- */

static LptDType
dtype_of (gint64 type)
{
  static const LptDType types[] =
  {
    LPT_DTYPE_F32, LPT_DTYPE_F16, LPT_DTYPE_I32, LPT_DTYPE_U8, LPT_DTYPE_I64, LPT_DTYPE_UNDEFINED, LPT_DTYPE_BOOL, LPT_DTYPE_I16,
    LPT_DTYPE_UNDEFINED, LPT_DTYPE_I8,
  };

  return type >= 0 && type < (gint64) G_N_ELEMENTS (types) ? types[type] : LPT_DTYPE_UNDEFINED;
}

static gboolean
read_tensor (const File *f,
             Table       table,
             gsize       buffers,
             CaseTensor *t,
             GError    **error)
{
  const gsize shape = child (f, table, 0), quant = child (f, table, 4);
  const gsize scales = child (f, quant, 2), zeros = child (f, quant, 3);
  const gsize data = child (f, table_at (f, buffers, (guint) number (f, table, 2, 4, 0)), 0);

  t->shape.rank = MIN (length (f, shape), LPT_MAX_RANK);
  for (gint i = 0; i < t->shape.rank; i++)
    t->shape.dims[i] = int_at (f, shape, i);
  t->dtype = dtype_of (number (f, table, 1, 1, 0));
  t->n_scales = length (f, scales);
  t->scale = g_new0 (double, t->n_scales + 1);
  t->zero = g_new0 (gint32, t->n_scales + 1);
  for (guint i = 0; i < t->n_scales; i++)
    {
      t->scale[i] = float_at (f, scales + 4 + 4 * (gsize) i);
      t->zero[i] = i < length (f, zeros) ? (gint32) read_bytes (f, zeros + 4 + 8 * (gsize) i, 8) : 0;
    }

  if (length (f, data) > 0)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (f->data, f->size);

      t->is_const = TRUE;
      t->data = lpt_tensor_new_bytes (t->dtype, &t->shape, bytes, data + 4, error);
      if (t->data == NULL)
        return FALSE;
    }

  return TRUE;
}

/* --- operators ---------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  guint8      id;
  char        kind;      /* p padding, a activation, i 32-bit, b boolean, f float */
  gint        fallback;
} Option;

static const struct
{
  gint        code;
  const char *name;
  Option      options[8];
} operators[] =
{
  { 0, "ADD", { { "fused_activation_function", 0, 'a', 0 } } },
  { 1, "AVERAGE_POOL_2D", { { "padding", 0, 'p', 0 }, { "stride_w", 1, 'i', 1 }, { "stride_h", 2, 'i', 1 }, { "filter_width", 3, 'i', 1 },
                            { "filter_height", 4, 'i', 1 }, { "fused_activation_function", 5, 'a', 0 } } },
  { 3, "CONV_2D", { { "padding", 0, 'p', 0 }, { "stride_w", 1, 'i', 1 }, { "stride_h", 2, 'i', 1 }, { "fused_activation_function", 3, 'a', 0 },
                    { "dilation_w_factor", 4, 'i', 1 }, { "dilation_h_factor", 5, 'i', 1 } } },
  { 4, "DEPTHWISE_CONV_2D", { { "padding", 0, 'p', 0 }, { "stride_w", 1, 'i', 1 }, { "stride_h", 2, 'i', 1 },
                              { "fused_activation_function", 4, 'a', 0 }, { "dilation_w_factor", 5, 'i', 1 },
                              { "dilation_h_factor", 6, 'i', 1 } } },
  { 9, "FULLY_CONNECTED", { { "fused_activation_function", 0, 'a', 0 }, { "keep_num_dims", 2, 'b', 0 } } },
  { 22, "RESHAPE", { { NULL } } },
  { 25, "SOFTMAX", { { "beta", 0, 'f', 1 } } },
  { 34, "PAD", { { NULL } } },
  { 39, "TRANSPOSE", { { NULL } } },
  { 40, "MEAN", { { "keep_dims", 0, 'b', 0 } } },
};

static cJSON *
read_options (const File   *f,
              Table         table,
              const Option *options,
              guint         n)
{
  static const char *const activations[] = { "NONE", "RELU", "RELU_N1_TO_1", "RELU6" };
  cJSON *object = cJSON_CreateObject ();

  for (guint i = 0; i < n && options[i].name != NULL; i++)
    {
      const Option *o = &options[i];
      const gint64 value = number (f, table, o->id, o->kind == 'i' ? 4 : 1, o->fallback);
      const gsize at = field (f, table, o->id);

      switch (o->kind)
        {
        case 'p': cJSON_AddStringToObject (object, o->name, value == 0 ? "SAME" : "VALID"); break;
        case 'a': cJSON_AddStringToObject (object, o->name, value >= 0 && value < 4 ? activations[value] : "unknown"); break;
        case 'b': cJSON_AddBoolToObject (object, o->name, value != 0); break;
        case 'f': cJSON_AddNumberToObject (object, o->name, at != 0 ? float_at (f, at) : o->fallback); break;
        default:  cJSON_AddNumberToObject (object, o->name, value); break;
        }
    }

  return object;
}

static GArray *
read_indices (const File *f,
              gsize       vector,
              guint       n_tensors)
{
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (gint));

  for (guint i = 0; i < length (f, vector); i++)
    {
      const gint index = int_at (f, vector, i);
      const gint known = index >= 0 && (guint) index < n_tensors ? index : -1;

      g_array_append_val (indices, known);
    }

  return indices;
}

static gboolean
add_operator (const File *f,
              Table       op,
              gsize       codes,
              CaseGraph  *run,
              CaseTensor *tensors,
              guint       n_tensors,
              GError    **error)
{
  const Table code_table = table_at (f, codes, (guint) number (f, op, 0, 4, 0));
  const gint64 code = MAX (number (f, code_table, 0, 1, 0), number (f, code_table, 3, 4, 0));
  g_autoptr (GArray) in = read_indices (f, child (f, op, 1), n_tensors);
  g_autoptr (GArray) out = read_indices (f, child (f, op, 2), n_tensors);

  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (operators[i].code == code)
      {
        g_autoptr (cJSON) attrs = read_options (f, child (f, op, 4), operators[i].options, G_N_ELEMENTS (operators[i].options));

        if (!case_litert_op (run, operators[i].name, attrs, tensors, in, out, error))
          return FALSE;
        for (guint o = 0; o < out->len; o++)
          {
            const gint index = g_array_index (out, gint, o);
            g_autofree char *name = g_strdup_printf ("t%03d", index);

            case_result (run, tensors[index].value, name);
          }
        return TRUE;
      }

  return case_fail (error, "unsupported operator %" G_GINT64_FORMAT, code);
}

/* The file must outlive the graph: constants borrow its bytes. */
static gboolean
build (const File *f,
       GPtrArray  *inputs,
       CaseGraph  *run,
       GError    **error)
{
  const Table model = (Table) read_bytes (f, 0, 4);
  const gsize codes = child (f, model, 1), buffers = child (f, model, 4);
  const Table graph = table_at (f, child (f, model, 2), 0);
  const gsize list = child (f, graph, 0), ins = child (f, graph, 1), ops = child (f, graph, 3);
  const guint n = length (f, list);
  CaseTensor *tensors = g_new0 (CaseTensor, MAX (n, 1));
  gboolean ok = graph != 0 || case_fail (error, "no model");

  for (guint i = 0; i < n && ok; i++)
    ok = read_tensor (f, table_at (f, list, i), buffers, &tensors[i], error);
  for (guint i = 0; i < length (f, ins) && i < inputs->len && ok; i++)
    {
      const gint index = int_at (f, ins, i);

      ok = (index >= 0 && (guint) index < n) || case_fail (error, "no tensor %d", index);
      if (ok)
        tensors[index].data = lpt_tensor_reshape (inputs->pdata[i], &tensors[index].shape, error);
      ok = ok && tensors[index].data != NULL;
    }
  for (guint i = 0; i < length (f, ops) && ok; i++)
    ok = add_operator (f, table_at (f, ops, i), codes, run, tensors, n, error);
  case_tensors_free (tensors, n);

  return ok;
}

CaseGraph *
tflite_build (const char *path,
              GPtrArray  *inputs,
              GError    **error)
{
  g_autoptr (CaseGraph) run = NULL;
  File f = { NULL, 0 };

  /* Kept by the graph's bytes: the reader hands out views. */
  char *contents;

  if (!g_file_get_contents (path, &contents, &f.size, error))
    return NULL;
  f.data = (const guint8 *) contents;
  run = case_graph_new (path);
  g_ptr_array_add (run->kept, contents);
  if (!build (&f, inputs, run, error))
    return NULL;

  return g_steal_pointer (&run);
}
