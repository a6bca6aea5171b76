/* bench/kernels/kernel-bench.c - times kernels on a list of shapes
 *
 *   kernel-bench SHAPES [FILTER] [LEVEL…]         (bench/kernels/run builds and calls it)
 *
 * SHAPES has lines `conv NAME batch ic ih oc k stride pad groups`, `mm NAME batch m k n`, `bmm NAME batch m k n`. For
 * every level (default: the machine's best) each line is run with per-channel requantization to u8, scheme single with
 * rests, then float, then oneDNN (where it was found; it uses float), turn by turn; ratios are oneDNN's time over ours.
 * Time is this thread's CPU time, the median of many runs. GMAC/s, and percent of the peak that the level's own dot
 * product instruction reaches (lpt_cpu_peak()). `bmm` packs its second operand in the timed part, oneDNN does not.
 * FILTER selects names; the families without products are `bytes`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/kernels/peer.h"
#include "executor/kernels/lpt-kernels.h"
#include <lpt/lpt-cpu.h>

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void *
memory (size_t size)
{
  uint8_t *p = aligned_alloc (64, (size + 127) / 64 * 64);

  if (!p)
    {
      fprintf (stderr, "kernel-bench: out of memory\n");
      exit (1);
    }
  for (size_t i = 0; i < size; i++)
    p[i] = (uint8_t) (i * 7 % 13);
  return p;
}

/* --- cases --- */

typedef struct {
  LptKernels   k;
  bool         batched, depthwise, conv;
  size_t       batch;
  LptGemm      gemm;
  LptConv      convolution;
  LptDwconv    dw;
  LptGemmWeights weights;
  void        *packed, *workspace;
  int32_t     *col_sum;
  LptEpilogue  e;
} Case;

static void
run_case (Case *c)
{
  if (c->depthwise)
    lpt_dwconv_tile (&c->dw, 0, c->dw.shape.batch * c->dw.shape.oh, 0, c->dw.shape.oc, c->workspace);
  else if (c->conv)
    lpt_conv_tile (&c->convolution, 0, c->convolution.shape.batch * c->convolution.shape.oh * c->convolution.shape.ow,
                   0, c->convolution.shape.oc, c->workspace);
  else
    for (size_t i = 0; i < c->batch; i++)
      {
        LptGemm g = c->gemm;

        if (c->batched)
          {
            LptGemmWeights w = c->weights;

            w.data = (const char *) w.data + i * w.k * w.n;
            lpt_gemm_pack (g.kernel, &w, 0, w.n, c->packed, c->col_sum);
          }
        g.a += i * g.m * g.k;
        g.out = (char *) g.out + i * g.m * g.n;
        lpt_gemm_tile (&g, 0, g.m, 0, g.n, c->workspace);
      }
}

enum { N_TURNS = 3, MOST = 2000 };

typedef struct {
  double t[MOST];
  size_t n;
} Times;

static double
median (Times *times)
{
  qsort (times->t, times->n, sizeof times->t[0], compare_doubles);
  return times->n ? times->t[times->n / 2] : 0;
}

/* Medians of the case under both stages and of the peer, in turns of a few milliseconds. */
static void
time_case (Case *c, const LptEpilogue *stages[2], Peer *peer, double result[N_TURNS])
{
  static Times times[N_TURNS];
  double end;

  for (int i = 0; i < N_TURNS; i++)
    times[i].n = 0;
  end = now () + 0.3;
  while (now () < end || times[0].n < 7)
    for (int i = 0; i < (peer ? 3 : 2); i++)
      {
        double turn = now () + 0.005;

        if (i < 2)
          c->e = *stages[i];
        for (int warm = 1; (warm >= 0 || now () < turn) && times[i].n < MOST; warm--)
          {
            double start = now ();

            if (i < 2)
              run_case (c);
            else
              peer_run (peer);
            if (warm <= 0)
              times[i].t[times[i].n++] = now () - start;
          }
      }
  for (int i = 0; i < N_TURNS; i++)
    result[i] = median (&times[i]);
}

static void
set_epilogue (LptEpilogue *e, size_t channels, LptRequantScheme scheme)
{
  size_t n = channels + LPT_CHANNEL_PAD;
  int32_t *bias = memory (n * 4), *mult = memory (n * 4), *shift = memory (n * 4), *rest = memory (n * 4);
  float *scale = memory (n * 4);

  for (size_t i = 0; i < n; i++)
    {
      bias[i] = (int32_t) i;
      mult[i] = (1 << 30) + (int32_t) i * 1000;
      shift[i] = -9;
      rest[i] = (int32_t) i * 1000003;
      scale[i] = 0.001f;
    }
  LptRequantFma fma = { memory (n * 4), memory (n * 4), memory (n * 4), memory (n * 4) };

  *e = (LptEpilogue) { .store = LPT_STORE_Q8, .scheme = scheme, .lo = 0, .hi = 255, .bias = bias, .mult = mult,
                       .shift = shift, .rest = rest, .scale = scale, .fma = fma };
  lpt_epilogue_prepare (e, channels, 1 << 30);
}

static bool
parse_case (const char *line, Case *c, char *name, double *macs)
{
  size_t a, b, d, e, f, g, h, i;
  char kind[8];

  memset (c, 0, sizeof *c);
  if (sscanf (line, "%7s %63s", kind, name) != 2 || kind[0] == '#')
    return false;
  if (strcmp (kind, "conv") == 0
      && sscanf (line, "%*s %*s %zu %zu %zu %zu %zu %zu %zu %zu", &a, &b, &d, &e, &f, &g, &h, &i) == 8)
    {
      size_t o = (d + 2 * h - f) / g + 1;
      LptConvShape s = { .batch = a, .ih = d, .iw = d, .ic = b, .oh = o, .ow = o, .oc = e, .groups = i, .kh = f, .kw = f,
                         .stride_h = g, .stride_w = g, .dilation_h = 1, .dilation_w = 1, .pad_top = (ptrdiff_t) h, .pad_left = (ptrdiff_t) h,
                         .id = 1, .od = 1, .kd = 1, .stride_d = 1, .dilation_d = 1 };

      c->conv = true;
      c->depthwise = i == b && i > 1;
      c->convolution.shape = c->dw.shape = s;
      *macs = (double) (a * o * o * e) * (double) (b / i * f * f);
      return true;
    }
  if (sscanf (line, "%*s %*s %zu %zu %zu %zu", &a, &b, &d, &e) != 4)
    return false;
  c->batched = strcmp (kind, "bmm") == 0;
  c->batch = a;
  c->gemm = (LptGemm) { .m = b, .k = d, .n = e, .lda = d, .ldo = e };
  *macs = (double) a * (double) b * (double) d * (double) e;
  return true;
}

/* Memory is not given back: the program ends soon. */
static void
set_up (Case *c, LptCpu cpu)
{
  LptConvShape *s = &c->convolution.shape;
  size_t oc = c->conv ? s->oc : c->gemm.n, size;

  c->k = lpt_kernels_for (cpu);
  c->col_sum = memory (oc * 4);
  if (c->conv)
    {
      size_t icg = s->ic / s->groups;
      LptConvWeights w = { .data = memory (s->kh * s->kw * icg * oc), .ky_stride = (ptrdiff_t) s->kw, .kx_stride = 1,
                           .c_stride = (ptrdiff_t) (s->kh * s->kw), .n_stride = (ptrdiff_t) (s->kh * s->kw * icg) };

      c->convolution = (LptConv) { .kernel = lpt_conv_kernel (c->k.gemm, s), .epilogue_kernel = c->k.epilogue, .epilogue = &c->e, .shape = *s,
                                   .in = memory (s->batch * s->ih * s->iw * s->ic), .pixel_stride = s->ic,
                                   .row_stride = s->ic * s->iw, .plane_stride = s->ic * s->iw * s->ih,
                                   .image_stride = s->ic * s->iw * s->ih, .channel_stride = 1,
                                   .out = memory (s->batch * s->oh * s->ow * oc), .ldo = oc };
      c->dw = (LptDwconv) { .kernel = c->k.dwconv, .epilogue_kernel = c->k.epilogue, .epilogue = &c->e, .shape = *s,
                            .in = c->convolution.in, .pixel_stride = s->ic, .row_stride = s->ic * s->iw,
                            .plane_stride = s->ic * s->iw * s->ih, .image_stride = s->ic * s->iw * s->ih, .out = c->convolution.out, .ldo = oc };
      size = c->depthwise ? lpt_dwconv_packed_size (s) : lpt_conv_packed_size (c->convolution.kernel, s);
      c->convolution.packed = c->dw.packed = c->packed = memory (size);
      if (c->depthwise)
        lpt_dwconv_pack (s, &w, c->packed, NULL);
      else
        lpt_conv_pack (c->convolution.kernel, s, &w, c->packed, NULL);
      c->workspace = memory (c->depthwise ? lpt_dwconv_workspace (&c->dw) : lpt_conv_workspace (&c->convolution));
    }
  else
    {
      LptGemm *g = &c->gemm;

      g->kernel = lpt_gemm_kernel_for (c->k.gemm, g->m, g->k);
      g->epilogue_kernel = c->k.epilogue;
      g->epilogue = &c->e;
      g->a = memory (c->batch * g->m * g->k);
      g->out = memory (c->batch * g->m * g->n);
      c->weights = (LptGemmWeights) { .data = memory (c->batch * g->k * g->n), .taps = 1, .k = g->k, .n = g->n,
                                      .k_stride = (ptrdiff_t) g->n, .n_stride = 1 };
      g->packed = c->packed = memory (lpt_gemm_packed_size (g->kernel, 1, g->k, g->n));
      lpt_gemm_pack (g->kernel, &c->weights, 0, g->n, c->packed, c->col_sum);
      c->workspace = memory (lpt_gemm_workspace (g));
    }
}

/* --- families without products: nanoseconds per call and per element --- */

typedef struct {
  LptKernels    k;
  LptAdd        add;
  LptMul        mul;
  LptQuantize   quantize;
  LptDequantize dequantize;
  LptPoolOp     pool;
  uint8_t      *a, *b, *out;
  float        *f, *g;
  void         *workspace;
} Bytes;

enum { N_BYTES = 802816 };   /* 56 x 56 x 256 */

static void run_add (Bytes *x) { x->k.eltwise->add (&x->add, 1, N_BYTES, x->a, 0, 1, x->b, 0, 1, x->out, 0); }
static void run_mul (Bytes *x) { x->k.eltwise->mul (&x->mul, 1, N_BYTES, x->a, 0, 1, x->b, 0, 1, x->out, 0); }
static void run_table (Bytes *x) { x->k.eltwise->table (x->b, 1, N_BYTES, x->a, 0, x->out, 0); }
static void run_quantize (Bytes *x) { x->k.eltwise->quantize (&x->quantize, 1, N_BYTES, x->f, 0, x->out, 0); }
static void run_dequantize (Bytes *x) { x->k.eltwise->dequantize (&x->dequantize, 1, N_BYTES, x->a, 0, x->f, 0); }
static void run_pool (Bytes *x) { lpt_pool_tile (&x->pool, 0, x->pool.shape.oh, x->workspace); }
static void run_bytes (Bytes *x) { x->k.transpose->bytes (256, 3136, x->a, 3136, x->out, 256); }
static void run_words (Bytes *x) { x->k.transpose->words (64, 3136, (uint32_t *) x->f, 3136, (uint32_t *) x->g, 64); }
static void run_softmax (Bytes *x) { x->k.floats->softmax (128, 128, x->f, 128, x->g, 128); }
static void run_normalize (Bytes *x) { x->k.floats->normalize (128, 768, x->f, 768, 1e-5, false, true, x->g, 768); }
static void run_gelu (Bytes *x) { x->k.floats->map (LPT_MAP_GELU, 128 * 3072, x->f, x->g); }

static void
time_bytes (const char *name, Bytes *x, void (*run) (Bytes *), size_t elements)
{
  static double t[200];

  run (x);
  for (int i = 0; i < 200; i++)
    {
      double start = now ();

      run (x);
      t[i] = now () - start;
    }
  qsort (t, 200, sizeof t[0], compare_doubles);
  printf ("%-24s %10.1f us %8.3f ns per element\n", name, t[100] * 1e6, t[100] * 1e9 / (double) elements);
}

static void
bench_bytes (LptCpu cpu)
{
  float scale = 0.03f;
  int32_t zp = 128, mult[10], shift[10];
  float scales[10];
  Bytes x = { .k = lpt_kernels_for (cpu), .a = memory (N_BYTES), .b = memory (N_BYTES), .out = memory (N_BYTES),
              .f = memory (N_BYTES * 4), .g = memory (N_BYTES * 4), .workspace = memory (1 << 16),
              .add = { .form = LPT_ADD_SINGLE, .hi = 255, .zp = 3, .m1 = 1500000000, .m2 = 1000000000, .shift = 31 },
              .mul = { .scheme = LPT_REQUANT_SINGLE, .hi = 255, .mult = 1500000000, .shift = -8, .scale = 0.003f },
              .quantize = { .form = LPT_QUANTIZE_DIVIDE, .hi = 255, .scale = &scale, .zp = &zp },
              .dequantize = { .scale = &scale, .zp = &zp } };

  for (int i = 0; i < N_BYTES; i++)
    x.f[i] = (float) (i % 255) * 0.03f - 3.0f;
  for (int i = 0; i < 10; i++)
    {
      mult[i] = 1500000000;
      shift[i] = -3;
      scales[i] = 0.1f;
    }
  x.pool = (LptPoolOp) { .kernel = x.k.pool, .epilogue_kernel = x.k.epilogue, .form = LPT_POOL_MAX,
                         .shape = { 1, 112, 112, 64, 56, 56, 64, 1, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 }, .in = x.a, .pixel_stride = 64,
                         .row_stride = 64 * 112, .plane_stride = 64 * 112 * 112, .image_stride = 64 * 112 * 112, .out = x.out, .ldo = 64, .hi = 255,
                         .scheme = LPT_REQUANT_SINGLE, .mult = mult, .shift = shift, .scale = scales };
  time_bytes ("softmax 128x128", &x, run_softmax, 128 * 128);
  time_bytes ("normalize 128x768", &x, run_normalize, 128 * 768);
  time_bytes ("gelu 128x3072", &x, run_gelu, 128 * 3072);
  time_bytes ("quantize", &x, run_quantize, N_BYTES);
  time_bytes ("add single", &x, run_add, N_BYTES);
  x.add = (LptAdd) { .form = LPT_ADD_FLOAT, .hi = 255, .sa = 0.1f, .sb = 0.2f, .sc = 0.3f };
  time_bytes ("add float", &x, run_add, N_BYTES);
  x.add = (LptAdd) { .form = LPT_ADD_STEPPED, .hi = 255, .step = LPT_REQUANT_DOUBLE, .left = 20, .m1 = 1500000000,
                     .m2 = 1500000000, .mo = 1500000000, .s1 = -1, .s2 = -2, .so = -18 };
  time_bytes ("add stepped", &x, run_add, N_BYTES);
  time_bytes ("mul single", &x, run_mul, N_BYTES);
  x.mul.scheme = LPT_REQUANT_FLOAT;
  x.mul.zp_in_float = true;
  time_bytes ("mul float", &x, run_mul, N_BYTES);
  time_bytes ("table", &x, run_table, N_BYTES);
  time_bytes ("dequantize", &x, run_dequantize, N_BYTES);
  time_bytes ("max pool 3x3s2 64", &x, run_pool, 56 * 56 * 64);
  x.pool.form = LPT_POOL_AVERAGE;
  time_bytes ("average pool 3x3s2 64", &x, run_pool, 56 * 56 * 64);
  time_bytes ("transpose bytes", &x, run_bytes, N_BYTES);
  time_bytes ("transpose words", &x, run_words, 64 * 3136);
}

int
main (int argc, char **argv)
{
  LptCpu machine = lpt_cpu_detect ();
  const char *filter = argc > 2 ? argv[2] : "";
  char line[512], name[64];

  if (argc < 2)
    {
      fprintf (stderr, "usage: kernel-bench SHAPES [FILTER] [LEVEL...]\n");
      return 2;
    }
  for (int i = argc > 3 ? 3 : 2; i < (argc > 3 ? argc : 3); i++)
    {
      LptCpu cpu = machine;
      const char *level = argc > 3 ? argv[i] : lpt_cpu_level_name (machine);
      double peak;
      FILE *f = fopen (argv[1], "r");

      if (!f)
        {
          perror (argv[1]);
          return 1;
        }
      if (!lpt_cpu_limit (&cpu, level))
        {
          fprintf (stderr, "kernel-bench: unknown level \"%s\"\n", level);
          return 2;
        }
      if (strcmp (lpt_cpu_level_name (cpu), level) != 0)
        {
          printf ("%s: not on this processor\n", level);
          fclose (f);
          continue;
        }
      peak = lpt_cpu_peak (cpu);
      printf ("# level %s, peak %.1f GMAC/s\n%-22s %9s %7s %5s %9s %7s %5s %9s %6s %6s\n", level, peak, "shape",
              "single us", "GMAC/s", "peak", "float us", "GMAC/s", "peak", "oneDNN us", "ratio", "ratio");
      if (strstr ("bytes", filter))
        bench_bytes (cpu);
      while (fgets (line, sizeof line, f))
        {
          Case c;
          LptEpilogue stages[2];
          Peer *peer;
          double macs, t[N_TURNS], scale;
          size_t channels;

          if (!parse_case (line, &c, name, &macs) || !strstr (name, filter))
            continue;
          set_up (&c, cpu);
          channels = c.conv ? c.convolution.shape.oc : c.gemm.n;
          set_epilogue (&stages[0], channels, LPT_REQUANT_SINGLE);
          set_epilogue (&stages[1], channels, LPT_REQUANT_FLOAT);
          peer = c.conv ? peer_convolution (&c.convolution.shape)
                        : peer_product (c.batch, c.gemm.m, c.gemm.k, c.gemm.n, c.batched);
          time_case (&c, (const LptEpilogue *[]) { &stages[0], &stages[1] }, peer, t);
          scale = peak > 0 ? 100 / peak : 0;
          macs *= 1e-9;
          printf ("%-22s %9.1f %7.1f %4.0f%% %9.1f %7.1f %4.0f%% %9.1f %6.2f %6.2f\n", name, t[0] * 1e6, macs / t[0],
                  macs / t[0] * scale, t[1] * 1e6, macs / t[1], macs / t[1] * scale, t[2] * 1e6, t[2] / t[0],
                  t[2] / t[1]);
          fflush (stdout);
        }
      fclose (f);
    }
  return 0;
}
