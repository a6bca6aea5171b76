/* executor/kernels/dwconv/lpt-dwconv.c - packing and pointers of depthwise convolution
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/dwconv/dwconv.h"

#include <string.h>

#define ALIGN_64(x) (((x) + 63) / 64 * 64)

static const LptDwconvKernel kernels[] = {
#define LPT_DWCONV_KERNEL(set, isa) { "dwconv__" #isa, LPT_CPU_##set, lpt_dwconv__##isa },
#include "executor/kernels/dwconv/dwconv.def"
#undef LPT_DWCONV_KERNEL
};

const LptDwconvKernel *
lpt_dwconv_kernels (size_t *n)
{
  if (n)
    *n = sizeof kernels / sizeof kernels[0];
  return kernels;
}

const LptDwconvKernel *
lpt_dwconv_kernel (LptCpu cpu)
{
  const LptDwconvKernel *row = kernels;

  while (!lpt_cpu_has (cpu, row->needs))
    row++;
  return row;
}

size_t
lpt_dwconv_packed_size (const LptConvShape *s)
{
  size_t per_channel, size;

  if (s->kh > SIZE_MAX - 3 || s->oc > SIZE_MAX - 15
      || __builtin_mul_overflow (s->kw, (s->kh + 3) / 4 * 4, &per_channel)
      || __builtin_mul_overflow (per_channel, (s->oc + 15) / 16 * 16, &size))
    return 0;
  return size;
}

void
lpt_dwconv_pack (const LptConvShape *s, const LptConvWeights *w, void *packed, int32_t *col_sum)
{
  size_t groups = (s->kh + 3) / 4;
  uint8_t flip = w->is_unsigned ? 0x80 : 0;

  memset (packed, 0, lpt_dwconv_packed_size (s));
  for (size_t c = 0; c < s->oc; c++)
    {
      int8_t *to = (int8_t *) packed + c / 16 * 16 * s->kw * groups * 4;
      uint32_t sum = 0;

      for (size_t kx = 0; kx < s->kw; kx++)
        for (size_t ky = 0; ky < s->kh; ky++)
          {
            uint8_t byte = *((const uint8_t *) w->data + (ptrdiff_t) ky * w->ky_stride + (ptrdiff_t) kx * w->kx_stride
                             + (ptrdiff_t) c * w->n_stride);
            int8_t v = (int8_t) (byte ^ flip);

            to[((kx * groups + ky / 4) * 16 + c % 16) * 4 + ky % 4] = v;
            sum += (uint32_t) (int32_t) v;
          }
      if (col_sum)
        col_sum[c] = (int32_t) sum;
    }
}

/* Columns that one output row reaches. */
static size_t
n_columns (const LptConvShape *s)
{
  return s->ow == 0 ? 0 : (s->ow - 1) * s->stride_w + (s->kw - 1) * s->dilation_w + 1;
}

/* Output rows of one call: enough pixels that what a block of channels needs is read seldom, but all near at hand; two at
 * least, which kernels may make together. */
static size_t
rows_at_once (const LptConvShape *s)
{
  enum { COLUMNS = 128 };
  size_t all = s->batch * s->oh, columns = n_columns (s), rows = columns == 0 || columns > COLUMNS / 2 ? 2 : COLUMNS / columns;

  return rows < all ? rows : all;
}

size_t
lpt_dwconv_workspace (const LptDwconv *d)
{
  const LptConvShape *s = &d->shape;

  return ALIGN_64 (rows_at_once (s) * n_columns (s) * s->kh * sizeof (void *)) + ALIGN_64 (s->ic);
}

/* Pointers of output row r, kh for each column. */
static void
fill_columns (const LptDwconv *d, size_t r, size_t columns, const uint8_t *pad_row, const uint8_t **cols)
{
  const LptConvShape *s = &d->shape;
  size_t left = s->pad_left < columns ? s->pad_left : columns, inside = s->iw < columns - left ? s->iw : columns - left;

  for (size_t ky = 0; ky < s->kh; ky++)
    {
      size_t y = r % s->oh * s->stride_h + ky * s->dilation_h - s->pad_top, i = 0;
      const uint8_t **to = cols + ky;

      if (y < s->ih)      /* above the image it is beyond its height, too */
        {
          const uint8_t *x = d->in + r / s->oh * d->image_stride + y * d->row_stride;

          for (; i < left; i++, to += s->kh)
            *to = pad_row;
          for (; i < left + inside; i++, to += s->kh, x += d->pixel_stride)
            *to = x;
        }
      for (; i < columns; i++, to += s->kh)
        *to = pad_row;
    }
}

void
lpt_dwconv_tile (const LptDwconv *d, size_t r0, size_t r1, size_t c0, size_t c1, void *workspace)
{
  const LptConvShape *s = &d->shape;
  size_t columns = n_columns (s), element = d->epilogue->store == LPT_STORE_Q8 ? 1 : 4, most = rows_at_once (s);
  const uint8_t **cols = workspace;
  uint8_t *pad_row = (uint8_t *) workspace + ALIGN_64 (most * columns * s->kh * sizeof (void *));
  LptDwconvRun run = { .kh = s->kh, .kw = s->kw, .stride_w = s->stride_w, .dilation_w = s->dilation_w,
                       .multiplier = s->oc / s->ic, .c0 = c0, .c1 = c1, .pixels = s->ow, .cols_step = columns * s->kh,
                       .packed = d->packed, .cols = cols, .epilogue = d->epilogue, .epilogue_kernel = d->epilogue_kernel,
                       .ldo = d->ldo, .ldr = d->ldr };

  if (d->pad_values)
    memcpy (pad_row, d->pad_values, s->ic);
  else
    memset (pad_row, d->pad_value, s->ic);
  for (size_t r = r0; r < r1; r += run.rows)
    {
      run.rows = r1 - r < most ? r1 - r : most;
      run.follow = s->stride_h == s->dilation_h && r % s->oh + run.rows <= s->oh;
      for (size_t y = 0; y < run.rows; y++)
        fill_columns (d, r + y, columns, pad_row, cols + y * run.cols_step);
      run.out = (char *) d->out + r * s->ow * d->ldo + c0 * element;
      run.residual = d->residual ? d->residual + r * s->ow * d->ldr + c0 : NULL;
      d->kernel->run (&run);
    }
}

void
lpt_dwconv_tiling (const LptConvShape *s, LptCut *rows, LptCut *channels)
{
  /* Parts of a few microseconds, of rows where there are enough. */
  enum { PRODUCTS = 160 * 1024, FEW_ROWS = 8 };
  double want = (double) s->batch * (double) (s->oh * s->ow) * (double) s->oc * (double) (s->kh * s->kw) / PRODUCTS;
  size_t all = s->batch * s->oh;

  *rows = lpt_cut_make (all, 1, all < FEW_ROWS ? 1 : want);
  *channels = lpt_cut_make (s->oc, 64, want / (double) rows->cuts);
}
