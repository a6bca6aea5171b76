/* test-exec-fourier.c - transforms against their definitions
 *
 * Each op is computed a second time here by the formula of its specification, element by element, on numbers drawn from
 * a seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include <complex.h>

#include "tests/unit/formula-case.h"

/* Element (k, l) of the transform of a field of @n by @m whose elements are x[j * m + i], by the double sum. */
static double complex
sum2 (const double complex *x,
      gint64                n,
      gint64                m,
      gint64                k,
      gint64                l,
      int                   sign)
{
  double complex sum = 0;

  for (gint64 j = 0; j < n; j++)
    for (gint64 i = 0; i < m; i++)
      sum += x[j * m + i] *
             cexp (sign * 2 * G_PI * I * ((double) (j * k) / (double) n + (double) (i * l) / (double) m));

  return sign > 0 ? sum / (double) (n * m) : sum;
}

/* Two axes in any order, sizes that cut and fill. */
static void
test_dft (void)
{
  static const struct { gint64 axes[2]; gint64 sizes[2]; } cases[] = {
    { { 1, 2 }, { -1, -1 } }, { { -1, 1 }, { 7, 4 } }, { { 2, 1 }, { 3, 8 } }, { { 1, -1 }, { 1, 12 } },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    for (int inverse = 0; inverse < 2; inverse++)
      {
        Case c = { .n = 0 };
        g_autofree char *dims = NULL;
        gint64 size[3] = { 2, 5, 6 }, old[3] = { 2, 5, 6 };
        g_autofree double complex *x = NULL;
        LptTensor *y;

        for (guint i = 0; i < 2; i++)
          if (cases[k].sizes[i] >= 0)
            size[cases[k].axes[i] < 0 ? cases[k].axes[i] + 3 : cases[k].axes[i]] = cases[k].sizes[i];
        add_input (&c, draw ("2,5,6,2"));
        add_input (&c, ints (2, cases[k].axes));
        add_input (&c, ints (2, cases[k].sizes));
        y = run (&c, inverse ? LPT_OP_IDFT : LPT_OP_DFT, NULL);
        dims = g_strdup_printf ("2,%d,%d,2", (int) size[1], (int) size[2]);
        has_shape (y, dims);
        x = g_new (double complex, size[1] * size[2]);
        for (gint64 b = 0; b < 2; b++)
          {
            for (gint64 j = 0; j < size[1]; j++)
              for (gint64 i = 0; i < size[2]; i++)
                {
                  gint64 from = 2 * ((b * old[1] + j) * old[2] + i);

                  x[j * size[2] + i] = j < old[1] && i < old[2] ? at (c.in[0], from) + at (c.in[0], from + 1) * I : 0;
                }
            for (gint64 j = 0; j < size[1]; j++)
              for (gint64 i = 0; i < size[2]; i++)
                {
                  double complex wanted = sum2 (x, size[1], size[2], j, i, inverse ? 1 : -1);
                  gint64 to = 2 * ((b * size[1] + j) * size[2] + i);

                  near_to (at (y, to), creal (wanted));
                  near_to (at (y, to + 1), cimag (wanted));
                }
          }
        done (&c, y);
      }
}

/* RDFT is half of the DFT along its last axis; IRDFT brings the real field back, for odd lengths with its size. */
static void
test_rdft (void)
{
  for (gint64 m = 1; m < 9; m++)
    for (gint64 filled = m; filled < m + 3; filled++)
      {
        static const gint64 axes[2] = { 0, 1 };
        gint64 sizes[2] = { 4, filled };
        Case c = { .n = 0 }, back = { .n = 0 };
        g_autofree char *dims = g_strdup_printf ("3,%d", (int) m),
                        *out = g_strdup_printf ("4,%d,2", (int) filled / 2 + 1);
        g_autofree char *real = g_strdup_printf ("4,%d", (int) filled);
        g_autofree double complex *x = g_new (double complex, 4 * filled);
        LptTensor *y, *z;

        add_input (&c, draw (dims));
        add_input (&c, ints (2, axes));
        add_input (&c, ints (2, sizes));
        y = run (&c, LPT_OP_RDFT, NULL);
        has_shape (y, out);
        for (gint64 j = 0; j < 4; j++)
          for (gint64 i = 0; i < filled; i++)
            x[j * filled + i] = j < 3 && i < m ? at (c.in[0], j * m + i) : 0;
        for (gint64 j = 0; j < 4; j++)
          for (gint64 i = 0; i < filled / 2 + 1; i++)
            {
              double complex wanted = sum2 (x, 4, filled, j, i, -1);

              near_to (at (y, 2 * (j * (filled / 2 + 1) + i)), creal (wanted));
              near_to (at (y, 2 * (j * (filled / 2 + 1) + i) + 1), cimag (wanted));
            }

        add_input (&back, lpt_tensor_ref (y));
        add_input (&back, ints (2, axes));
        if (filled % 2 != 0 || filled == 2)
          add_input (&back, ints (2, sizes));
        z = run (&back, LPT_OP_IRDFT, NULL);
        has_shape (z, real);
        for (gint64 i = 0; i < 4 * filled; i++)
          near_to (at (z, i), creal (x[i]));
        done (&back, z);
        done (&c, y);
      }
}

static void
exchanged (LptNode *node)
{
  LPT_ATTRS (node, LptStftAttrs)->transpose_frames = TRUE;
}

static void
centered (LptNode *node)
{
  LPT_ATTRS (node, LptIstftAttrs)->center = TRUE;
}

static void
normalized (LptNode *node)
{
  LPT_ATTRS (node, LptIstftAttrs)->normalized = TRUE;
}

/* The specification's example: 56 samples, frames of 11 every 3, a window of 7; and the way back. */
static void
test_stft (void)
{
  for (int mode = 0; mode < 4; mode++)
    {
      gint64 size = 11, step = 3, length = 56, frames = 16, bins = 6, batch = 2;
      Case c = { .n = 0 }, back = { .n = 0 };
      double window[11] = { 0 };
      LptTensor *y, *z;

      add_input (&c, draw ("2,56"));
      add_input (&c, draw ("7"));
      add_input (&c, whole (size));
      add_input (&c, whole (step));
      for (gint64 i = 0; i < 7; i++)
        window[i + 2] = at (c.in[1], i);
      y = run (&c, LPT_OP_STFT, mode == 0 ? NULL : exchanged);
      has_shape (y, mode == 0 ? "2,16,6,2" : "2,6,16,2");
      for (gint64 b = 0; b < batch; b++)
        for (gint64 t = 0; t < frames; t++)
          for (gint64 k = 0; k < bins; k++)
            {
              gint64 to = 2 * (b * frames * bins + (mode == 0 ? t * bins + k : k * frames + t));
              double complex wanted = 0;

              for (gint64 i = 0; i < size; i++)
                wanted += window[i] * at (c.in[0], b * length + t * step + i) *
                          cexp (-2 * G_PI * I * (double) (i * k) / (double) size);
              near_to (at (y, to), creal (wanted));
              near_to (at (y, to + 1), cimag (wanted));
            }
      if (mode > 0)
        {
          gint64 margin = mode == 2 ? 5 : 0, n = mode == 2 ? 45 : mode == 3 ? 60 : 56;

          add_input (&back, lpt_tensor_ref (y));
          add_input (&back, lpt_tensor_ref (c.in[1]));
          add_input (&back, whole (size));
          add_input (&back, whole (step));
          if (mode == 3)
            add_input (&back, whole (n));
          z = run (&back, LPT_OP_ISTFT, mode == 2 ? centered : mode == 3 ? normalized : NULL);
          has_shape (z, mode == 1 ? "2,56" : mode == 2 ? "2,45" : "2,60");
          for (gint64 b = 0; b < batch; b++)
            for (gint64 i = 0; i < n; i++)
              {
                double weight = 0, scale = mode == 3 ? sqrt (11) : 1;
                gint64 from = i + margin;

                for (gint64 t = 0; t < frames; t++)
                  if (from >= t * step && from < t * step + size)
                    weight += window[from - t * step];
                /* A sum of windows near 0 makes the quotient uncertain. */
                if (weight == 0 || from >= length)
                  near_to (at (z, b * n + i), 0);
                else if (fabs (weight) > 0.1)
                  g_assert_cmpfloat (fabs (at (z, b * n + i) - scale * at (c.in[0], b * length + from)), <, 1e-3);
              }
          done (&back, z);
        }
      done (&c, y);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  formula_begin ();
  g_test_add_func ("/exec/signal/dft", test_dft);
  g_test_add_func ("/exec/signal/rdft", test_rdft);
  g_test_add_func ("/exec/signal/stft", test_stft);

  return formula_end (g_test_run ());
}
