/* executor/kernels/pool/lpt-pool.c - windows, and the scaling of sums by the divisor
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/pool/pool.h"

#include <string.h>

#define ALIGN_64(x) (((x) + 63) / 64 * 64)

#define BLOCK LPT_POOL_BLOCK
/* Elements of neighbours that are pooled in one call. */
#define JOINED 1024

static const LptPoolKernel kernels[] = {
#define LPT_POOL_KERNEL(set, isa) { "pool__" #isa, LPT_CPU_##set, lpt_pool_max__##isa, lpt_pool_sum__##isa },
#include "executor/kernels/pool/pool.def"
#undef LPT_POOL_KERNEL
};

const LptPoolKernel *
lpt_pool_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptPoolKernel *
lpt_pool_kernel (LptCpu cpu)
{
  const LptPoolKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

static size_t
n_taps (const LptConvShape *s)
{
  return s->kd * s->kh * s->kw;
}

size_t
lpt_pool_workspace (const LptPoolOp *p)
{
  const size_t elements = p->shape.ic > JOINED ? p->shape.ic : JOINED;

  return ALIGN_64 (n_taps (&p->shape) * sizeof (void *)) + ALIGN_64 ((elements + BLOCK) * sizeof (int32_t));
}

void
lpt_pool_set_scaling (LptPoolScaling *z, int32_t bias, int32_t mult, int32_t shift, float scale)
{
  z->e.store = LPT_STORE_Q8;
  z->e.bias = z->bias;
  z->e.mult = z->mult;
  z->e.shift = z->shift;
  z->e.scale = z->scale;
  for (size_t i = 0; i < BLOCK; i++)
    {
      z->bias[i] = bias;
      z->mult[i] = mult;
      z->shift[i] = shift;
      z->scale[i] = scale;
    }
  lpt_epilogue_prepare (&z->e, 1, 0);
}

void
lpt_pool_scale_sums (const LptPoolScaling *z, const LptEpilogueKernel *kernel, size_t n, const int32_t *sums,
                     uint8_t *out)
{
  for (size_t c = 0; c < n; c += BLOCK)
    kernel->run (&z->e, 1, n - c < BLOCK ? n - c : BLOCK, 0, sums + c, BLOCK, NULL, out + c, 0, NULL, 0);
}

/* For one divisor. */
static void
set_scaling (LptPoolScaling *z, const LptPoolOp *p, size_t taps, size_t divisor)
{
  z->taps = taps;
  z->divisor = divisor;
  z->e = (LptEpilogue) { .scheme = p->scheme, .zp = p->zp, .lo = p->lo, .hi = p->hi };
  lpt_pool_set_scaling (z, -(int32_t) taps * p->zero, p->mult ? p->mult[divisor] : 0, p->shift ? p->shift[divisor] : 0,
                        p->scale ? p->scale[divisor] : 0.0f);
}

/* Taps along one axis from padded position @at on that lie before @end. */
static size_t
taps_before (size_t at, size_t end, size_t kernel, size_t dilation)
{
  size_t n = at < end ? (end - at + dilation - 1) / dilation : 0;

  return n < kernel ? n : kernel;
}

/* Taps of one window inside the image and its padding. */
static size_t
padded_taps (const LptPoolOp *p, size_t oz, size_t oy, size_t ox)
{
  const LptConvShape *s = &p->shape;

  return taps_before (oz * s->stride_d, (size_t) s->pad_front + s->id + p->pad_back, s->kd, s->dilation_d)
         * taps_before (oy * s->stride_h, (size_t) s->pad_top + s->ih + p->pad_bottom, s->kh, s->dilation_h)
         * taps_before (ox * s->stride_w, (size_t) s->pad_left + s->iw + p->pad_right, s->kw, s->dilation_w);
}

/* Taps of one window that lie inside. */
static size_t
window (const LptPoolOp *p, const uint8_t *image, size_t oz, size_t oy, size_t ox, const uint8_t **ptr)
{
  const LptConvShape *s = &p->shape;
  size_t taps = 0, z0 = oz * s->stride_d - (size_t) s->pad_front, y0 = oy * s->stride_h - (size_t) s->pad_top;
  size_t x0 = ox * s->stride_w - (size_t) s->pad_left;

  for (size_t row = 0; row < s->kd * s->kh; row++)
    {
      size_t z = z0 + row / s->kh * s->dilation_d, y = y0 + row % s->kh * s->dilation_h;

      for (size_t kx = 0; kx < s->kw && z < s->id && y < s->ih; kx++)
        {
          size_t x = x0 + kx * s->dilation_w;

          if (x < s->iw)
            ptr[taps++] = image + z * p->plane_stride + y * p->row_stride + x * p->pixel_stride;
        }
    }
  return taps;
}

/* The window of @taps on @channels neighbours in memory. */
static void
pool_window (const LptPoolOp *p, LptPoolScaling *scaling, size_t taps, size_t divisor, size_t channels,
             const uint8_t **ptr, int32_t *sums, uint8_t *out)
{
  if (p->form == LPT_POOL_MAX)
    {
      p->kernel->max (taps, ptr, channels, p->flip, out);
      return;
    }
  p->kernel->sum (taps, ptr, channels, p->flip, sums);
  if (p->form == LPT_POOL_FINISH)
    {
      p->finish (p->finish_data, taps, divisor, channels, sums, out);
      return;
    }
  if (scaling->divisor != divisor || scaling->taps != taps)
    set_scaling (scaling, p, taps, divisor);
  lpt_pool_scale_sums (scaling, p->epilogue_kernel, channels, sums, out);
}

void
lpt_pool_tile (const LptPoolOp *p, size_t r0, size_t r1, void *workspace)
{
  const LptConvShape *s = &p->shape;
  const uint8_t **ptr = workspace;
  int32_t *sums = (int32_t *) ((char *) workspace + ALIGN_64 (n_taps (s) * sizeof (void *)));
  size_t step = s->stride_w * p->pixel_stride, left = (size_t) s->pad_left, wide = (s->kw - 1) * s->dilation_w;
  /* Few channels of windows side by side are as many channels of one window. */
  bool joins = s->stride_w == 1 && s->ic < BLOCK && p->pixel_stride == s->ic && p->ldo == s->ic;
  size_t most = joins ? JOINED / s->ic : 1;
  LptPoolScaling scaling = { .divisor = SIZE_MAX };

  for (size_t r = r0; r < r1; r++)
    {
      const uint8_t *image = p->in + r / s->oh / s->od * p->image_stride;
      size_t oz = r / s->oh % s->od, taps = 0, n = 1;

      for (size_t ox = 0; ox < s->ow; ox += n)
        {
          size_t right = ox * s->stride_w + wide, divisor, moved = n;
          bool whole = right - left < s->iw && right >= left;

          /* Between the borders a window is the last one moved on. */
          if (ox > 0 && (ox - moved) * s->stride_w >= left && whole)
            for (size_t i = 0; i < taps; i++)
              ptr[i] += moved * step;
          else
            taps = window (p, image, oz, r % s->oh, ox, ptr);

          n = joins && ox >= left && whole ? s->iw + left - right : 1;
          n = n > most ? most : n;
          n = n > s->ow - ox ? s->ow - ox : n;
          divisor = p->count_padding ? padded_taps (p, oz, r % s->oh, ox) : taps;
          pool_window (p, &scaling, taps, divisor, n * s->ic, ptr, sums, p->out + (r * s->ow + ox) * p->ldo);
        }
    }
}

size_t
lpt_pool_tiling (const LptConvShape *s)
{
  size_t rows = s->batch * s->od * s->oh;
  double work = (double) rows * (double) s->ow * (double) s->ic * (double) n_taps (s) / 262144.0;
  size_t want = work < 1 ? 1 : work > 16 ? 16 : (size_t) work;

  rows = (rows + want - 1) / want;
  return rows ? rows : 1;
}
