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

/* A kernel as the rows have it: taps along the line that stand in one column, `fold` of them, are more rows of it. */
typedef struct {
  size_t rows, fold;                  /* rows of a tap */
  size_t kh, kw, dilation_w;
} Folded;

static Folded
folded (const LptConvShape *s)
{
  Folded f = { .rows = (s->repeats ? s->repeats : 1) * s->kd * s->kh, .fold = 1 };

  if (f.rows > 0 && f.rows <= 2 && s->kw > 1)
    f.fold = s->kw < 4 / f.rows ? s->kw : 4 / f.rows;
  f.kh = f.rows * f.fold;
  f.kw = s->kw / f.fold + (s->kw % f.fold != 0);
  f.dilation_w = s->dilation_w * f.fold;
  return f;
}

size_t
lpt_dwconv_packed_size (const LptConvShape *s)
{
  Folded f = folded (s);
  size_t rows, per_channel, size;

  if (__builtin_mul_overflow (s->kd, s->kh, &rows) || __builtin_mul_overflow (rows, s->repeats ? s->repeats : 1, &rows)
      || rows > SIZE_MAX - 3 || s->oc > SIZE_MAX - 15
      || __builtin_mul_overflow (f.kw, (f.kh + 3) / 4 * 4, &per_channel)
      || __builtin_mul_overflow (per_channel, (s->oc + 15) / 16 * 16, &size))
    return 0;
  return size;
}

void
lpt_dwconv_pack (const LptConvShape *s, const LptConvWeights *w, void *packed, int32_t *col_sum)
{
  Folded f = folded (s);
  size_t groups = (f.kh + 3) / 4;
  uint8_t flip = w->is_unsigned ? 0x80 : 0;

  memset (packed, 0, lpt_dwconv_packed_size (s));
  for (size_t c = 0; c < s->oc; c++)
    {
      int8_t *to = (int8_t *) packed + c / 16 * 16 * f.kw * groups * 4;
      uint32_t sum = 0;

      for (size_t kx = 0; kx < s->kw; kx++)
        for (size_t ky = 0; ky < f.rows; ky++)
          {
            size_t row = kx % f.fold * f.rows + ky;
            uint8_t byte = *((const uint8_t *) w->data + (ptrdiff_t) ky * w->ky_stride + (ptrdiff_t) kx * w->kx_stride
                             + (ptrdiff_t) c * w->n_stride);
            int8_t v = (int8_t) (byte ^ flip);

            to[((kx / f.fold * groups + row / 4) * 16 + c % 16) * 4 + row % 4] = v;
            sum += (uint32_t) (int32_t) v;
          }
      if (col_sum)
        col_sum[c] = (int32_t) sum;
    }
}

/* Pixels of one call: a line, or a piece of the only one that there is. */
static size_t
pixels_at_once (const LptConvShape *s)
{
  enum { LONG = 512, PIECE = 256 };

  return s->od * s->oh == 1 && s->ow > LONG ? PIECE : s->ow;
}

/* Columns that they reach. */
static size_t
n_columns (const LptConvShape *s)
{
  Folded f = folded (s);

  return s->ow == 0 ? 0 : (pixels_at_once (s) - 1) * s->stride_w + (f.kw - 1) * f.dilation_w + 1;
}

/* Output rows of one call: enough pixels that what a block of channels needs is read seldom, but all near at hand; two
 * at least, which kernels may make together. */
static size_t
rows_at_once (const LptConvShape *s)
{
  enum { COLUMNS = 128 };
  size_t all = s->batch * s->od * s->oh, columns = n_columns (s),
         rows = columns == 0 || columns > COLUMNS / 2 ? 2 : COLUMNS / columns;

  return pixels_at_once (s) < s->ow ? 1 : rows < all ? rows : all;
}

size_t
lpt_dwconv_workspace (const LptDwconv *d)
{
  const LptConvShape *s = &d->shape;

  return ALIGN_64 (rows_at_once (s) * n_columns (s) * folded (s).kh * sizeof (void *)) + ALIGN_64 (s->ic);
}

/* Which columns are pixels of a line, whose first stands in column `start`: [left, end), from pixel `skipped` on. */
typedef struct {
  size_t left, end, skipped;
} Inside;

static Inside
inside (const LptConvShape *s, ptrdiff_t start, size_t columns)
{
  Inside in = { .left = start < 0 ? 0 : (size_t) start, .skipped = start < 0 ? (size_t) -start : 0 };
  size_t pixels = s->iw < in.skipped ? 0 : s->iw - in.skipped;

  if (pixels == 0 || in.left >= columns)
    return (Inside) { 0 };
  in.end = pixels < columns - in.left ? in.left + pixels : columns;
  return in;
}

/* Pointers to one row of the kernel, `step` apart: to the pixels of `line` (NULL: outside of the image) and padding. */
static void
fill_line (const LptDwconv *d, const uint8_t *line, ptrdiff_t start, size_t columns, const uint8_t *pad_row,
           size_t step, const uint8_t **to)
{
  Inside in = line ? inside (&d->shape, start, columns) : (Inside) { 0 };
  const uint8_t *from = line ? line + in.skipped * d->pixel_stride : NULL;
  size_t i = 0;

  for (; i < in.left; i++, to += step)
    *to = pad_row;
  for (; i < in.end; i++, to += step, from += d->pixel_stride)
    *to = from;
  for (; i < columns; i++, to += step)
    *to = pad_row;
}

/* Pointers of output row r from pixel x on, those of a column one behind the other. */
static void
fill_columns (const LptDwconv *d, const Folded *f, size_t r, size_t x, size_t columns, const uint8_t *pad_row,
              const uint8_t **cols)
{
  const LptConvShape *s = &d->shape;
  size_t plane = r / s->oh, repeats = s->repeats ? s->repeats : 1;
  size_t z0 = plane % s->od * s->stride_d - (size_t) s->pad_front, y0 = r % s->oh * s->stride_h - (size_t) s->pad_top;
  const uint8_t *image = d->in + plane / s->od * d->image_stride;

  for (size_t folded = 0; folded < f->fold; folded++)
    for (size_t k = 0; k < repeats; k++)
      for (size_t kz = 0; kz < s->kd; kz++)
        for (size_t ky = 0; ky < s->kh; ky++)
          {
            size_t z = z0 + kz * s->dilation_d, y = y0 + ky * s->dilation_h;
            bool exists = z < s->id && y < s->ih;      /* before the image it is beyond its size, too */
            ptrdiff_t start = s->pad_left - (ptrdiff_t) (x * s->stride_w + folded * s->dilation_w);
            const uint8_t *line = exists ? image + z * d->plane_stride + y * d->row_stride : NULL;

            fill_line (d, line, start, columns, pad_row, f->kh, cols++);
          }
}

/* Whether output row r reads the lines that stand stride_h below those of the row before it, all in one image. */
static bool
is_below (const LptConvShape *s, const Folded *f, size_t r)
{
  size_t y = r % s->oh * s->stride_h;

  return f->fold == 1 && s->kd * s->id * s->od == 1 && s->pad_front == 0 && r % s->oh > 0
         && y >= s->stride_h + (size_t) s->pad_top && y - (size_t) s->pad_top + (s->kh - 1) * s->dilation_h < s->ih;
}

/* The same for a row that is_below () the one of `before`. */
static void
shift_columns (const LptDwconv *d, const Folded *f, size_t x, size_t columns, const uint8_t *pad_row,
               const uint8_t *const *before, const uint8_t **cols)
{
  Inside in = inside (&d->shape, d->shape.pad_left - (ptrdiff_t) (x * d->shape.stride_w), columns);
  size_t step = d->shape.stride_h * d->row_stride, i = 0;

  for (; i < in.left * f->kh; i++)
    cols[i] = pad_row;
  for (; i < in.end * f->kh; i++)
    cols[i] = before[i] + step;
  for (; i < columns * f->kh; i++)
    cols[i] = pad_row;
}

void
lpt_dwconv_tile (const LptDwconv *d, size_t r0, size_t r1, size_t c0, size_t c1, void *workspace)
{
  const LptConvShape *s = &d->shape;
  Folded f = folded (s);
  size_t columns = n_columns (s), element = d->epilogue->store == LPT_STORE_Q8 ? 1 : 4, most = rows_at_once (s);
  size_t pixel = d->place ? d->place->x : 1, pixels = pixels_at_once (s);
  const uint8_t **cols = workspace, **before = NULL;
  uint8_t *pad_row = (uint8_t *) workspace + ALIGN_64 (most * columns * f.kh * sizeof (void *));
  LptDwconvRun run = { .kh = f.kh, .kw = f.kw, .stride_w = s->stride_w, .dilation_w = f.dilation_w,
                       .multiplier = s->oc / s->ic, .c0 = c0, .c1 = c1, .cols_step = columns * f.kh,
                       .packed = d->packed, .cols = cols, .epilogue = d->epilogue, .epilogue_kernel = d->epilogue_kernel,
                       .ldo = d->ldo * pixel, .ldr = d->ldr * pixel };

  if (d->pad_values)
    memcpy (pad_row, d->pad_values, s->ic);
  else
    memset (pad_row, d->pad_value, s->ic);
  for (size_t r = r0; r < r1; r += run.rows)
    {
      run.rows = d->place ? 1 : r1 - r < most ? r1 - r : most;
      run.follow = f.kh == s->kh && s->stride_h == s->dilation_h && r % s->oh + run.rows <= s->oh;
      for (size_t x = 0; x < s->ow; x += run.pixels)
        {
          size_t first = r * s->ow + x;

          first = d->place ? lpt_conv_place_at (d->place, s, first) : first;
          run.pixels = s->ow - x < pixels ? s->ow - x : pixels;
          for (size_t y = 0; y < run.rows; y++)
            {
              const uint8_t **own = cols + y * run.cols_step;

              if (before && pixels == s->ow && is_below (s, &f, r + y))
                shift_columns (d, &f, x, columns, pad_row, before, own);
              else
                fill_columns (d, &f, r + y, x, columns, pad_row, own);
              before = own;
            }
          run.out = (char *) d->out + first * d->ldo + c0 * element;
          run.residual = d->residual ? d->residual + first * d->ldr + c0 : NULL;
          d->kernel->run (&run);
        }
    }
}

double
lpt_dwconv_parts (const LptConvShape *s)
{
  /* A column that is stepped over is interleaved for one pixel alone, and to end a pixel takes the time of nine taps. */
  enum { PRODUCTS = 128 * 1024, ENDING = 9 };
  size_t apart = s->stride_w < s->kw ? s->stride_w : s->kw, channels = (s->oc + 15) & ~(size_t) 15;

  return (double) (s->batch * s->od * s->oh * s->ow) * (double) channels *
         (double) (s->kd * s->kh * s->kw * apart + ENDING) / PRODUCTS;
}

void
lpt_dwconv_tiling (const LptConvShape *s, LptCut *rows, LptCut *channels)
{
  enum { FEW_ROWS = 8 };
  size_t all = s->batch * s->od * s->oh;
  double want = lpt_dwconv_parts (s);

  *rows = lpt_cut_make (all, 1, all < FEW_ROWS ? 1 : want);
  *channels = lpt_cut_make (s->oc, 64, want / (double) rows->cuts);
}
