/* tests/kernels/test-pool.c - pooling of every row against plain loops
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include "executor/kernels/pool/pool.h"

/* A finish that shows what it was given. */
static void
divide (const void *data, size_t taps, size_t divisor, size_t channels, const int32_t *sums, uint8_t *out)
{
  const LptConvShape *s = data;

  for (size_t c = 0; c < channels; c++)
    out[c] = (uint8_t) ((size_t) sums[c] / (divisor ? divisor : 1) + taps + s->kh);
}

static uint8_t
reference (const LptPoolOp *p, size_t r, size_t ox, size_t c)
{
  const LptConvShape *s = &p->shape;
  int64_t sum = 0, n = 0, padded = 0, taps;
  int32_t best = -1, v;

  for (size_t row = 0; row < s->kd * s->kh; row++)
    for (size_t kx = 0; kx < s->kw; kx++)
      {
        ptrdiff_t z = (ptrdiff_t) (r / s->oh % s->od * s->stride_d + row / s->kh * s->dilation_d) - s->pad_front;
        ptrdiff_t y = (ptrdiff_t) (r % s->oh * s->stride_h + row % s->kh * s->dilation_h) - s->pad_top;
        ptrdiff_t x = (ptrdiff_t) (ox * s->stride_w + kx * s->dilation_w) - s->pad_left;
        uint8_t q;

        padded += z < (ptrdiff_t) (s->id + p->pad_back) && y < (ptrdiff_t) (s->ih + p->pad_bottom) &&
                  x < (ptrdiff_t) (s->iw + p->pad_right);
        if (z < 0 || y < 0 || x < 0 || z >= (ptrdiff_t) s->id || y >= (ptrdiff_t) s->ih || x >= (ptrdiff_t) s->iw)
          continue;
        q = p->in[r / s->oh / s->od * p->image_stride + (size_t) z * p->plane_stride + (size_t) y * p->row_stride +
                  (size_t) x * p->pixel_stride + c] ^
            p->flip;
        sum += q;
        n++;
        best = q > best ? q : best;
      }
  if (p->form == LPT_POOL_MAX)
    return (uint8_t) ((best < 0 ? 0 : best) ^ p->flip);
  v = (int32_t) (sum - n * p->zero);
  taps = n;
  if (p->count_padding)
    n = padded;
  if (p->form == LPT_POOL_AVERAGE)
    return (uint8_t) lpt_requant_code (p->scheme, v, p->mult[n], p->shift[n], p->scale[n], p->zp, p->lo, p->hi);
  return (uint8_t) (sum / (n ? n : 1) + taps + (int64_t) s->kh);
}

static LptConvShape
random_shape (bool big)
{
  LptConvShape s = { .batch = (size_t) random_range (1, 2), .ih = (size_t) random_range (1, 12),
                     .iw = (size_t) random_range (1, 12), .ic = (size_t) random_range (1, random_u32 () % 2 ? 6 : 200),
                     .kh = (size_t) random_range (1, 4), .kw = (size_t) random_range (1, 4),
                     .stride_h = (size_t) random_range (1, 3), .stride_w = (size_t) random_range (1, 3),
                     .dilation_h = (size_t) random_range (1, 2), .dilation_w = 1,
                     .pad_top = random_range (0, 2), .pad_left = random_range (0, 2), .groups = 1,
                     .id = 1, .od = 1, .kd = 1, .stride_d = 1, .dilation_d = 1 };

  if (random_u32 () % 2)
    {
      s.id = (size_t) random_range (1, 5);
      s.od = (size_t) random_range (1, 3);
      s.kd = (size_t) random_range (1, 3);
      s.stride_d = (size_t) random_range (1, 2);
      s.dilation_d = (size_t) random_range (1, 2);
      s.pad_front = random_range (0, 2);
    }
  if (big)
    {
      s.kd = 1;
      s.kh = s.ih = 29;
      s.kw = s.iw = 31;
      s.pad_top = s.pad_left = 0;
      s.dilation_h = 1;
    }
  s.oc = s.ic;
  s.oh = (size_t) random_range (1, 6);
  s.ow = (size_t) random_range (1, 14);
  return s;
}

static bool
run_case (const LptPoolKernel *row, bool big)
{
  LptConvShape s = random_shape (big);
  int32_t mult[1000], shift[1000];
  float scale[1000];
  bool ok = true;

  for (int i = 0; i < 1000; i++)
    {
      double real = 0.9 / (i ? i : 1);
      int e;

      mult[i] = (int32_t) (frexp (real, &e) * 2147483648.0);
      shift[i] = e;
      scale[i] = (float) real;
    }

  size_t pixel = s.ic + (random_u32 () % 2 ? 0 : (size_t) random_range (0, 3));
  LptPoolOp p = { .kernel = row, .epilogue_kernel = lpt_epilogue_kernel (row->needs),
                  .form = (LptPoolForm) (random_u32 () % 3), .shape = s, .flip = random_u32 () % 2 ? 0x80 : 0,
                  .count_padding = random_u32 () % 2, .pad_back = (size_t) random_range (0, 2), .pad_bottom = (size_t) random_range (0, 2),
                  .pad_right = (size_t) random_range (0, 2), .finish = divide, .finish_data = &s, .scheme = (LptRequantScheme) (random_u32 () % LPT_REQUANT_N_SCHEMES),
                  .zero = random_range (0, 255), .zp = random_range (0, 255), .lo = 0, .hi = 255, .mult = mult,
                  .shift = shift, .scale = scale, .pixel_stride = pixel, .row_stride = pixel * s.iw,
                  .plane_stride = pixel * s.iw * s.ih, .image_stride = pixel * s.iw * s.ih * s.id,
                  .ldo = s.ic + (random_u32 () % 2 ? 0 : 3) };

  if (random_u32 () % 3 == 0)
    {
      p.zp -= 128;
      p.lo = -128;
      p.hi = 127;
    }
  p.in = exact_bytes (pixel * s.iw * s.ih * s.id * s.batch);

  size_t rows = s.batch * s.od * s.oh;
  Buffer got = buffer_new ((rows * s.ow - 1) * p.ldo + s.ic);
  void *workspace = aligned_bytes (lpt_pool_workspace (&p));

  p.out = got.data;
  lpt_pool_tile (&p, 0, rows / 2, workspace);
  lpt_pool_tile (&p, rows / 2, rows, workspace);
  for (size_t i = 0; i < rows * s.ow && ok; i++)
    for (size_t c = 0; c < s.ic && ok; c++)
      {
        uint8_t want = reference (&p, i / s.ow, i % s.ow, c);

        if (got.data[i * p.ldo + c] != want)
          {
            printf ("# form %d scheme %d taps %zux%zu channels %zu: pixel %zu channel %zu is %u, not %u\n", p.form,
                    p.scheme, s.kh, s.kw, s.ic, i, c, got.data[i * p.ldo + c], want);
            ok = false;
          }
      }
  for (size_t i = 0; i + 1 < rows * s.ow; i++)
    for (size_t c = s.ic; c < p.ldo; c++)
      ok = ok && got.data[i * p.ldo + c] == 0xA5;
  ok = ok && buffer_guards_hold (&got);
  bytes_free (p.in);
  bytes_free (workspace);
  buffer_free (&got);
  return ok;
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptPoolKernel *rows = lpt_pool_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, rows[i].needs))
        {
          test_skip (rows[i].name);
          continue;
        }
      for (int j = 0; j < 400; j++)
        ok = run_case (&rows[i], j % 50 == 0) && ok;
      test_report (ok, "%s: 400 cases", rows[i].name);
    }
  return test_end ();
}
