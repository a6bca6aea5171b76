/* test-tensor.c - element types, half floats, shapes, tensors
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <math.h>
#include <string.h>

#include <lpt/lpt.h>

/* Every half float survives the way to f32 and back. */
static void
test_f16_round_trip (void)
{
  guint32 bits;

  for (bits = 0; bits < 0x10000; bits++)
    {
      float value = lpt_f16_to_f32 ((guint16) bits);
      guint16 back = lpt_f32_to_f16 (value);

      if (isnan (value))
        g_assert_true ((back & 0x7c00) == 0x7c00 && (back & 0x3ff) != 0);
      else
        g_assert_cmphex (back, ==, bits);
      value = lpt_bf16_to_f32 ((guint16) bits);
      if (!isnan (value))
        g_assert_cmphex (lpt_f32_to_bf16 (value), ==, bits);
    }
}

/* Halfway between two half floats goes to the even one. */
static void
test_f16_ties (void)
{
  g_assert_cmphex (lpt_f32_to_f16 (1 + 0x1p-11f), ==, 0x3c00);
  g_assert_cmphex (lpt_f32_to_f16 (1 + 3 * 0x1p-11f), ==, 0x3c02);
  g_assert_cmphex (lpt_f32_to_f16 (65519.99f), ==, 0x7bff);
  g_assert_cmphex (lpt_f32_to_f16 (65520), ==, 0x7c00);
  g_assert_cmphex (lpt_f32_to_f16 (0x1p-25f), ==, 0);
  g_assert_cmphex (lpt_f32_to_f16 (0x1.8p-25f), ==, 1);
  g_assert_cmphex (lpt_f32_to_bf16 (1 + 0x1p-8f), ==, 0x3f80);
  g_assert_cmphex (lpt_f32_to_bf16 (1 + 3 * 0x1p-8f), ==, 0x3f82);
}

static void
test_dtype_names (void)
{
  guint i;

  for (i = LPT_DTYPE_F64; i < LPT_N_DTYPES; i++)
    {
      g_assert_cmpint (lpt_dtype_from_name (lpt_dtype_name (i)), ==, i);
      if (lpt_dtype_ir_name (i) != NULL)
        g_assert_cmpint (lpt_dtype_from_name (lpt_dtype_ir_name (i)), ==, i);
    }
  g_assert_cmpint (lpt_dtype_from_name ("f31"), ==, LPT_DTYPE_UNDEFINED);
  g_assert_cmpfloat (lpt_dtype_min (LPT_DTYPE_I8), ==, -128);
  g_assert_cmpfloat (lpt_dtype_max (LPT_DTYPE_U16), ==, 65535);
}

static void
test_shapes (void)
{
  LptShape a, b, out;
  gint64 count;
  gint axis;
  g_autofree char *text = NULL;

  g_assert_true (lpt_shape_from_string ("[1, ?,3]", &a, NULL));
  text = lpt_shape_to_string (&a);
  g_assert_cmpstr (text, ==, "1,?,3");
  g_assert_false (lpt_shape_is_static (&a));
  g_assert_true (lpt_shape_from_string ("4,1", &b, NULL));
  g_assert_true (lpt_shape_broadcast (&a, &b, &out));
  g_assert_cmpint (out.dims[1], ==, 4);
  g_assert_cmpint (out.dims[2], ==, 3);
  g_assert_true (lpt_shape_from_string ("2,3", &a, NULL));
  g_assert_true (lpt_shape_from_string ("4,3", &b, NULL));
  g_assert_false (lpt_shape_broadcast (&a, &b, &out));
  g_assert_true (lpt_shape_from_string ("...", &a, NULL));
  g_assert_cmpint (a.rank, ==, LPT_DYNAMIC);
  g_assert_false (lpt_shape_from_string ("1,x", &a, NULL));
  g_assert_false (lpt_shape_from_string ("1,2,3,4,5,6,7,8,9,10,11", &a, NULL));

  /* 2^60 elements are a number, 2^64 are not; an empty axis wins over both. */
  a = lpt_shape_make (2, (gint64[]) { 1 << 30, 1 << 30 });
  g_assert_true (lpt_shape_count (&a, &count));
  a = lpt_shape_make (3, (gint64[]) { G_GINT64_CONSTANT (1) << 40, G_GINT64_CONSTANT (1) << 40, 1 });
  g_assert_false (lpt_shape_count (&a, &count));
  a.dims[2] = 0;
  g_assert_true (lpt_shape_count (&a, &count));
  g_assert_cmpint (count, ==, 0);

  g_assert_true (lpt_axis_normalize (-1, 4, &axis));
  g_assert_cmpint (axis, ==, 3);
  g_assert_false (lpt_axis_normalize (4, 4, &axis));
  g_assert_false (lpt_axis_normalize (-5, 4, &axis));
}

static void
test_tensor_refuses_sizes (void)
{
  g_autoptr (GError) error = NULL;
  LptShape huge = lpt_shape_make (3, (gint64[]) { G_MAXINT64, 2, 2 });
  LptShape dynamic = lpt_shape_make (1, (gint64[]) { LPT_DYNAMIC });
  LptShape four = lpt_shape_make (1, (gint64[]) { 4 });
  g_autoptr (GBytes) bytes = g_bytes_new_static ("0123456789", 10);

  g_assert_null (lpt_tensor_new (LPT_DTYPE_F32, &huge, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (lpt_tensor_new (LPT_DTYPE_F32, &dynamic, &error));
  g_clear_error (&error);
  g_assert_null (lpt_tensor_new_bytes (LPT_DTYPE_F32, &four, bytes, 0, &error));
  g_assert_error (error, LPT_ERROR, LPT_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_null (lpt_tensor_new_bytes (LPT_DTYPE_U8, &four, bytes, G_MAXSIZE, &error));
}

/* Packed 4-bit elements: the first in the low half, i4 signed. */
static void
test_tensor_4bit (void)
{
  LptShape three = lpt_shape_make (1, (gint64[]) { 3 });
  const double values[] = { -8, 7, -1 };
  g_autoptr (LptTensor) tensor = lpt_tensor_from_f64 (LPT_DTYPE_I4, &three, values, NULL);
  const guint8 *data = lpt_tensor_data (tensor);

  g_assert_cmpuint (lpt_tensor_size (tensor), ==, 2);
  g_assert_cmphex (data[0], ==, 0x78);
  g_assert_cmpint (lpt_tensor_get_i64 (tensor, 0), ==, -8);
  g_assert_cmpint (lpt_tensor_get_i64 (tensor, 2), ==, -1);
}

/* Convert truncates; the rounding conversion rounds and saturates. */
static void
test_tensor_convert (void)
{
  LptShape shape = lpt_shape_make (1, (gint64[]) { 6 });
  const double values[] = { 1.7, -1.7, 2.5, -2.5, 300, NAN };
  g_autoptr (LptTensor) real = lpt_tensor_from_f64 (LPT_DTYPE_F32, &shape, values, NULL);
  g_autoptr (LptTensor) cut = lpt_tensor_convert (real, LPT_DTYPE_I8, NULL);
  g_autoptr (LptTensor) even = lpt_tensor_convert_round (real, LPT_DTYPE_I8, LPT_ROUND_HALF_EVEN, NULL);
  g_autoptr (LptTensor) away = lpt_tensor_convert_round (real, LPT_DTYPE_I8, LPT_ROUND_HALF_AWAY, NULL);

  g_assert_cmpint (lpt_tensor_get_i64 (cut, 0), ==, 1);
  g_assert_cmpint (lpt_tensor_get_i64 (cut, 1), ==, -1);
  g_assert_cmpint (lpt_tensor_get_i64 (cut, 4), ==, 44);
  g_assert_cmpint (lpt_tensor_get_i64 (cut, 5), ==, 0);
  g_assert_cmpint (lpt_tensor_get_i64 (even, 2), ==, 2);
  g_assert_cmpint (lpt_tensor_get_i64 (away, 2), ==, 3);
  g_assert_cmpint (lpt_tensor_get_i64 (away, 3), ==, -3);
  g_assert_cmpint (lpt_tensor_get_i64 (even, 4), ==, 127);
}

static void
test_tensor_reshape_shares (void)
{
  LptShape shape = lpt_shape_make (2, (gint64[]) { 2, 3 });
  LptShape flat = lpt_shape_make (1, (gint64[]) { 6 });
  LptShape wrong = lpt_shape_make (1, (gint64[]) { 5 });
  g_autoptr (LptTensor) tensor = lpt_tensor_new (LPT_DTYPE_U8, &shape, NULL);
  g_autoptr (LptTensor) view = lpt_tensor_reshape (tensor, &flat, NULL);

  g_assert_true (lpt_tensor_data (view) == lpt_tensor_data (tensor));
  g_assert_null (lpt_tensor_reshape (tensor, &wrong, NULL));
  g_assert_true (lpt_tensor_is_scalar_like (tensor));
}

/* As OpenVINO packs them: number, n + 1 places, characters. */
static void
test_tensor_strings (void)
{
  static const guint8 packed[] = { 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 'a', 'b', 'c', 0, 0xff };
  const char *const strings[] = { "ab", "", "c\0\xff" };
  const gsize lengths[] = { 2, 0, 3 };
  LptShape shape = lpt_shape_make (2, (gint64[]) { 3, 1 }), flat = lpt_shape_make (1, (gint64[]) { 3 }),
           none = lpt_shape_make (1, (gint64[]) { 0 });
  g_autoptr (GBytes) bytes = g_bytes_new_static (packed, sizeof packed);
  g_autoptr (LptTensor) made = lpt_tensor_new_strings (&shape, strings, lengths, NULL);
  g_autoptr (LptTensor) read = lpt_tensor_new_bytes (LPT_DTYPE_STRING, &shape, bytes, 0, NULL);
  g_autoptr (LptTensor) view = lpt_tensor_reshape (made, &flat, NULL);
  g_autoptr (LptTensor) empty = lpt_tensor_new_strings (&none, NULL, NULL, NULL);
  gsize length;
  gint64 i;

  g_assert_cmpmem (lpt_tensor_data (made), lpt_tensor_size (made), packed, sizeof packed);
  g_assert_true (lpt_tensor_equal (made, read) && !lpt_tensor_equal (made, view));
  for (i = 0; i < 3; i++)
    {
      const char *text = lpt_tensor_string (view, i, &length);

      g_assert_cmpmem (text, length, strings[i], lengths[i]);
    }
  g_assert_cmpint (lpt_tensor_size (empty), ==, 8);
  g_assert_false (lpt_tensor_is_scalar_like (made));
  g_assert_null (lpt_tensor_new (LPT_DTYPE_STRING, &flat, NULL));
  g_assert_null (lpt_tensor_convert (made, LPT_DTYPE_F32, NULL));
  g_assert_cmpfloat (lpt_tensor_get_f64 (made, 0), ==, 0);
  /* Every byte of the header with another value, and every length that cuts it, is refused or stays within the
   * bytes. */
  for (i = 0; i <= (gint64) sizeof packed; i++)
    {
      g_autofree guint8 *copy = g_memdup2 (packed, sizeof packed);
      gint value;

      for (value = 0; value < 256 && i < 20; value++)
        {
          copy[i] = (guint8) value;
          g_autoptr (GBytes) changed = g_bytes_new (copy, sizeof packed);
          g_autoptr (LptTensor) tensor = lpt_tensor_new_bytes (LPT_DTYPE_STRING, &flat, changed, 0, NULL);

          g_assert_true (tensor == NULL || lpt_tensor_size (tensor) <= sizeof packed);
          if (tensor != NULL)
            g_assert_true (lpt_tensor_string (tensor, 2, &length) + length <=
                           (const char *) lpt_tensor_data (tensor) + lpt_tensor_size (tensor));
        }
      g_autoptr (GBytes) cut = g_bytes_new (packed, (gsize) i);
      g_autoptr (LptTensor) tensor = lpt_tensor_new_bytes (LPT_DTYPE_STRING, &flat, cut, 0, NULL);

      g_assert_true ((tensor != NULL) == (i == (gint64) sizeof packed));
      g_assert_null (lpt_tensor_new_bytes (LPT_DTYPE_STRING, &flat, bytes, (gsize) i + 1, NULL));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/types/f16-round-trip", test_f16_round_trip);
  g_test_add_func ("/types/f16-ties", test_f16_ties);
  g_test_add_func ("/types/names", test_dtype_names);
  g_test_add_func ("/types/shapes", test_shapes);
  g_test_add_func ("/tensor/refuses-sizes", test_tensor_refuses_sizes);
  g_test_add_func ("/tensor/4-bit", test_tensor_4bit);
  g_test_add_func ("/tensor/convert", test_tensor_convert);
  g_test_add_func ("/tensor/reshape-shares", test_tensor_reshape_shares);
  g_test_add_func ("/tensor/strings", test_tensor_strings);

  return g_test_run ();
}
