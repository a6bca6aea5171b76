/* test-opset-definition-recurrent.c - LSTM cells and sequences of all opsets, against their definitions
 *
 * As test-opset-definition-elementwise.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "opset-case.h"

static double out_values[MAX_COUNT], more_values[MAX_COUNT];

/* --- LSTMCell -------------------------------------------------------------------- */

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* Gates in the order forget, input, cell, output. */
static void
test_lstm_cell (void)
{
  enum { BATCH = 2, IN = 3, HIDDEN = 2 };
  guint round;

  for (round = 0; round < rounds (30); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 4;
      const gboolean biased = toss ();
      double x[BATCH * IN], h[BATCH * HIDDEN], c[BATCH * HIDDEN], w[4 * HIDDEN * IN], r[4 * HIDDEN * HIDDEN],
          b[4 * HIDDEN];
      const gint64 state[2] = { BATCH, HIDDEN };
      gint n, j, k, g;

      draw_reals (x, BATCH * IN);
      draw_reals (h, BATCH * HIDDEN);
      draw_reals (c, BATCH * HIDDEN);
      draw_reals (w, 4 * HIDDEN * IN);
      draw_reals (r, 4 * HIDDEN * HIDDEN);
      draw_reals (b, 4 * HIDDEN);
      for (n = 0; n < BATCH; n++)
        for (j = 0; j < HIDDEN; j++)
          {
            double gate[4];

            for (g = 0; g < 4; g++)
              {
                gate[g] = biased ? b[g * HIDDEN + j] : 0;
                for (k = 0; k < IN; k++)
                  gate[g] += x[n * IN + k] * w[(g * HIDDEN + j) * IN + k];
                for (k = 0; k < HIDDEN; k++)
                  gate[g] += h[n * HIDDEN + k] * r[(g * HIDDEN + j) * HIDDEN + k];
              }
            more_values[n * HIDDEN + j] = sigmoid (gate[0]) * c[n * HIDDEN + j] + sigmoid (gate[1]) * tanh (gate[2]);
            out_values[n * HIDDEN + j] = sigmoid (gate[3]) * tanh (more_values[n * HIDDEN + j]);
          }
      add_const (text, "x", "f32", 2, (gint64[]) { BATCH, IN }, x);
      add_const (text, "xh", "f32", 2, state, h);
      add_const (text, "xc", "f32", 2, state, c);
      add_const (text, "w", "f32", 2, (gint64[]) { 4 * HIDDEN, IN }, w);
      add_const (text, "r", "f32", 2, (gint64[]) { 4 * HIDDEN, HIDDEN }, r);
      add_list (text, "b", "f32", 4 * HIDDEN, b);
      g_string_append_printf (text, "%%y = LSTMCell@%d(%%x, %%xh, %%xc, %%w, %%r%s) {hidden_size=%d}\nResult(%%y)\nResult(%%y.1)\n", version,
                              biased ? ", %b" : "", HIDDEN);
      expect (text, 2, (Want[]) { { 2, state, out_values, 1e-5, "f32" }, { 2, state, more_values, 1e-5, "f32" } });
    }
}

/* --- LSTMSequence -------------------------------------------------------------------- */

enum { ROWS = 2, STEPS = 4, WIDTH = 3, STATE = 2 };

static double
clipped (double v,
         double clip)
{
  return clip > 0 ? CLAMP (v, -clip, clip) : v;
}

/* One step; gates are clipped before they become something else. */
static void
lstm_step (const double *x,
           double       *h,
           double       *c,
           const double *w,
           const double *r,
           const double *b,
           double        clip)
{
  double gate[4 * STATE];
  gint j, k;

  for (j = 0; j < 4 * STATE; j++)
    {
      gate[j] = b[j];
      for (k = 0; k < WIDTH; k++)
        gate[j] += x[k] * w[j * WIDTH + k];
      for (k = 0; k < STATE; k++)
        gate[j] += h[k] * r[j * STATE + k];
      gate[j] = clipped (gate[j], clip);
    }
  for (j = 0; j < STATE; j++)
    {
      c[j] = sigmoid (gate[j]) * c[j] + sigmoid (gate[STATE + j]) * tanh (gate[2 * STATE + j]);
      h[j] = sigmoid (gate[3 * STATE + j]) * tanh (c[j]);
    }
}

/* Rows are as long as their lengths say, behind that the output is 0 and the state stays; reverse begins at the end of
 * a row. */
static void
test_lstm_sequence (void)
{
  static const char *const names[] = { "forward", "reverse", "bidirectional" };
  guint round;

  for (round = 0; round < rounds (40); round++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const gint version = toss () ? 1 : 5, direction = draw (0, 2), n = direction == 2 ? 2 : 1;
      const double clip = toss () ? 0 : draw (1, 16) / 8.0;
      double x[ROWS * STEPS * WIDTH], h[ROWS * 2 * STATE], c[ROWS * 2 * STATE], lengths[ROWS];
      double w[2 * 4 * STATE * WIDTH], r[2 * 4 * STATE * STATE], b[2 * 4 * STATE], y[ROWS * 2 * STEPS * STATE] = { 0 };
      const gint64 state[3] = { ROWS, n, STATE };
      gint row, d, t, j;

      draw_reals (x, G_N_ELEMENTS (x));
      draw_reals (h, G_N_ELEMENTS (h));
      draw_reals (c, G_N_ELEMENTS (c));
      draw_reals (w, G_N_ELEMENTS (w));
      draw_reals (r, G_N_ELEMENTS (r));
      draw_reals (b, G_N_ELEMENTS (b));
      for (row = 0; row < ROWS; row++)
        lengths[row] = draw (1, STEPS);
      add_const (text, "x", "f32", 3, (gint64[]) { ROWS, STEPS, WIDTH }, x);
      add_const (text, "xh", "f32", 3, state, h);
      add_const (text, "xc", "f32", 3, state, c);
      add_list (text, "l", "i64", ROWS, lengths);
      add_const (text, "w", "f32", 3, (gint64[]) { n, 4 * STATE, WIDTH }, w);
      add_const (text, "r", "f32", 3, (gint64[]) { n, 4 * STATE, STATE }, r);
      add_const (text, "b", "f32", 2, (gint64[]) { n, 4 * STATE }, b);
      for (row = 0; row < ROWS; row++)
        for (d = 0; d < n; d++)
          for (t = 0; t < (gint) lengths[row]; t++)
            {
              const gint at = direction == 1 || d == 1 ? (gint) lengths[row] - 1 - t : t;
              double *own = h + (row * n + d) * STATE;

              lstm_step (x + (row * STEPS + at) * WIDTH, own, c + (row * n + d) * STATE, w + d * 4 * STATE * WIDTH,
                         r + d * 4 * STATE * STATE, b + d * 4 * STATE, clip);
              for (j = 0; j < STATE; j++)
                y[((row * n + d) * STEPS + at) * STATE + j] = own[j];
            }
      g_string_append_printf (text, "%%y = LSTMSequence@%d(%%x, %%xh, %%xc, %%l, %%w, %%r, %%b) {hidden_size=%d, direction=%s", version, STATE, names[direction]);
      if (clip > 0)
        g_string_append_printf (text, ", clip=%g", clip);
      g_string_append (text, "}\nResult(%y)\nResult(%y.1)\nResult(%y.2)\n");
      expect (text, 3,
              (Want[]) { { 4, (gint64[]) { ROWS, n, STEPS, STATE }, y, 1e-5, "f32" },
                         { 3, state, h, 1e-5, "f32" },
                         { 3, state, c, 1e-5, "f32" } });
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/opset/lstm-cell", test_lstm_cell);
  g_test_add_func ("/opset/lstm-sequence", test_lstm_sequence);

  return g_test_run ();
}
