/* executor/kernels/igemm/lpt-conv.c - pointers and copied rows for the block loop of gemm/
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/igemm/conv.h"

#include <string.h>

#define ALIGN_64(x) (((x) + 63) / 64 * 64)

/* Below this many channels a tap of its own wastes products and loop turns. */
#define FEW_CHANNELS 16

/* Up to this many, a copy of the rows costs less than a pointer for each tap of a pixel, and the kernel's loop over
 * taps has fewer turns. */
#define COPIED_CHANNELS 32

const LptGemmKernel *
lpt_conv_kernel (const LptGemmKernel *best, const LptConvShape *s)
{
  size_t icg = s->ic / s->groups;

  /* Rows of very few channels would be copied in small pieces. */
  return lpt_gemm_kernel_for (best, s->batch * s->od * s->oh * s->ow,
                              s->kd * s->kh > 1 && s->kw * icg < 16 ? 0 : s->kd * s->kh * s->kw * icg);
}

static bool
has_wide_taps (const LptConvShape *s)
{
  return s->groups == 1 && s->kw > 1 && s->dilation_w == 1;
}

bool
lpt_conv_takes_planes (const LptConvShape *s)
{
  return has_wide_taps (s) && s->ic < FEW_CHANNELS;
}

static bool
copies_rows (const LptGemmKernel *kernel, const LptConvShape *s)
{
  return has_wide_taps (s) && (s->ic <= COPIED_CHANNELS || (kernel->sweep && s->ic % 4 == 0));
}

static size_t
conv_taps (const LptGemmKernel *kernel, const LptConvShape *s)
{
  return copies_rows (kernel, s) ? s->kd * s->kh : s->kd * s->kh * s->kw;
}

static size_t
conv_k (const LptGemmKernel *kernel, const LptConvShape *s)
{
  return copies_rows (kernel, s) ? s->kw * s->ic : s->ic / s->groups;
}

/* Pixels of one block: pointers (one per tap) and row sums stay small, and rows that the kernel copies in the second
 * cache. */
static size_t
block_most (const LptConv *c)
{
  const size_t copies = 512 * 1024;
  size_t taps = conv_taps (c->kernel, &c->shape), k = conv_k (c->kernel, &c->shape), step;
  size_t most = (taps == 1 && !c->place) || c->kernel->sweep ? 448 : 112;

  if (!c->kernel->sweep)
    return most;
  step = c->kernel->sweep->step;
  if (taps > 1 && k > 0 && most > copies / taps / k)
    most = copies / taps / k;
  most = (most + step - 1) / step * step;
  return most > step ? most : step;
}

/* --- packing --- */

size_t
lpt_conv_packed_size (const LptGemmKernel *kernel, const LptConvShape *s)
{
  size_t one = lpt_gemm_packed_size (kernel, conv_taps (kernel, s), conv_k (kernel, s), s->oc / s->groups), all;

  return one && !__builtin_mul_overflow (ALIGN_64 (one), s->groups, &all) ? all : 0;
}

void
lpt_conv_pack (const LptGemmKernel *kernel, const LptConvShape *s, const LptConvWeights *w, void *packed,
               int32_t *col_sum)
{
  size_t ocg = s->oc / s->groups;
  size_t one = ALIGN_64 (lpt_gemm_packed_size (kernel, conv_taps (kernel, s), conv_k (kernel, s), ocg));
  LptGemmWeights g = { .is_unsigned = w->is_unsigned, .taps = s->kd * s->kh * s->kw, .k = s->ic / s->groups, .n = ocg,
                       .n_stride = w->n_stride, .k_stride = w->c_stride };

  /* Whole groups of four channels: the same bytes whether a tap is a pixel or a row of them. */
  if (copies_rows (kernel, s) && s->ic % 4 != 0)
    {
      g.taps = conv_taps (kernel, s);
      g.k = conv_k (kernel, s);
      g.tap_stride = w->ky_stride;
      g.k_inner = s->ic;
      g.k_outer_stride = w->kx_stride;
    }
  else
    {
      g.tap_inner = s->kw;
      g.tap_outer_stride = w->ky_stride;
      g.tap_stride = w->kx_stride;
    }
  for (size_t group = 0; group < s->groups; group++)
    {
      g.data = (const char *) w->data + (ptrdiff_t) (group * ocg) * w->n_stride;
      lpt_gemm_pack (kernel, &g, 0, ocg, (char *) packed + group * one, col_sum ? col_sum + group * ocg : NULL);
    }
}

/* --- geometry --- */

typedef struct {
  size_t plane, y, x;     /* plane: those of all images behind each other */
} Pixel;

static Pixel
pixel_of (const LptConvShape *s, size_t m)
{
  size_t line = m < s->ow ? 0 : m / s->ow, plane = line < s->oh ? 0 : line / s->oh;

  return (Pixel) { plane, line - plane * s->oh, m - line * s->ow };
}

/* The input plane that tap kz of an output plane reads, or NULL: padding. */
static const uint8_t *
plane_of (const LptConv *c, size_t plane, size_t kz)
{
  const LptConvShape *s = &c->shape;
  size_t image = s->od == 1 ? plane : plane / s->od;
  size_t z = (plane - image * s->od) * s->stride_d + kz * s->dilation_d - (size_t) s->pad_front;

  return z < s->id ? c->in + image * c->image_stride + z * c->plane_stride : NULL;
}

/* Bytes of a copied row: every column that a tap can reach, and room to read whole groups of four. */
static size_t
copied_row_bytes (const LptConvShape *s)
{
  return ALIGN_64 (((s->ow - 1) * s->stride_w + s->kw) * s->ic + 4);
}

/* Rows that one block of pixels can touch. */
static size_t
copied_rows (const LptConv *c)
{
  const LptConvShape *s = &c->shape;
  size_t out_rows = (block_most (c) + s->ow - 2) / s->ow + 1;

  return (out_rows - 1) * s->stride_h + (s->kh - 1) * s->dilation_h + 1;
}

/* Copied rows of each plane, and what is read behind a line's end. */
static size_t
ring_bytes (const LptConv *c)
{
  const LptConvShape *s = &c->shape;

  return s->kd * copied_rows (c) * copied_row_bytes (s) + (c->kernel->sweep ? ALIGN_64 (16 * s->stride_w * s->ic) : 0);
}

/* Results of a block that are not neighbours in memory, room for those of a group's earlier channels, and their
 * residuals. */
static size_t
apart_bytes (const LptConv *c)
{
  size_t element = c->epilogue->store == LPT_STORE_Q8 ? 1 : 4, row = ALIGN_64 (c->shape.oc * element);

  return c->place ? (block_most (c) * (c->epilogue->add ? 2 : 1) + 1) * row : 0;
}

size_t
lpt_conv_workspace (const LptConv *c)
{
  const LptConvShape *s = &c->shape;
  size_t most = block_most (c), taps = conv_taps (c->kernel, s);
  size_t common = ALIGN_64 (taps * most * sizeof (void *)) + ALIGN_64 (most * sizeof (int32_t));

  /* Rows that the kernel copies come last. */
  common += lpt_gemm_block_scratch (c->kernel, false, most, taps, conv_k (c->kernel, s)) + apart_bytes (c);
  if (copies_rows (c->kernel, s) && s->ow > 0)
    return common + ring_bytes (c);
  return common + ALIGN_64 (s->ic / s->groups);
}

/* --- many channels: one pointer per pixel and tap --- */

/* Output columns x for which x * stride + offset lies in [0, size): [*from, *to). */
static void
valid_columns (ptrdiff_t offset, size_t stride, size_t size, size_t *from, size_t *to)
{
  ptrdiff_t last = (ptrdiff_t) size - 1 - offset;

  *from = offset < 0 ? ((size_t) -offset + stride - 1) / stride : 0;
  *to = last < 0 ? 0 : (size_t) last / stride + 1;
}

static size_t
clamp_size (size_t v, size_t low, size_t high)
{
  return v < low ? low : v > high ? high : v;
}

/* n pointers, `step` bytes apart. */
static void
fill_run (const uint8_t **to, size_t n, const uint8_t *x, size_t step)
{
  size_t j = 0;

  for (; j + 4 <= n; j += 4, x += 4 * step)
    {
      to[j] = x;
      to[j + 1] = x + step;
      to[j + 2] = x + 2 * step;
      to[j + 3] = x + 3 * step;
    }
  for (; j < n; j++, x += step)
    to[j] = x;
}

/* One tap of pixels from p on: line by line padding, a run inside, padding. */
static void
fill_tap (const LptConv *c, Pixel p, size_t pixels, size_t tap, size_t channel, const uint8_t *pad_row,
          const uint8_t **to)
{
  const LptConvShape *s = &c->shape;
  const size_t kx = tap % s->kw, ky = tap / s->kw % s->kh, kz = tap / s->kw / s->kh;
  const uint8_t *plane = plane_of (c, p.plane, kz);
  ptrdiff_t offset = (ptrdiff_t) (kx * s->dilation_w) - s->pad_left;
  size_t inside_from, inside_to, step = s->stride_w * c->pixel_stride;

  valid_columns (offset, s->stride_w, s->iw, &inside_from, &inside_to);
  for (size_t i = 0, n; i < pixels; i += n, to += n)
    {
      size_t y = p.y * s->stride_h + ky * s->dilation_h - (size_t) s->pad_top, from, end;

      n = s->ow - p.x < pixels - i ? s->ow - p.x : pixels - i;
      from = clamp_size (inside_from, p.x, p.x + n) - p.x;
      end = clamp_size (inside_to, p.x + from, p.x + n) - p.x;
      if (y >= s->ih || !plane)
        from = end = 0;
      fill_run (to, from, pad_row, 0);
      if (from < end)
        fill_run (to + from, end - from,
                  plane + y * c->row_stride + channel
                  + (size_t) ((ptrdiff_t) ((p.x + from) * s->stride_w) + offset) * c->pixel_stride, step);
      fill_run (to + end, n - end, pad_row, 0);
      p.x = 0;
      if (++p.y == s->oh)
        {
          p.y = 0;
          plane = plane_of (c, ++p.plane, kz);
        }
    }
}

/* Whether pixel m of the output stands over pixel m of the input, all of them equally far apart. */
static bool
is_dense (const LptConv *c)
{
  const LptConvShape *s = &c->shape;

  return s->kd * s->kh * s->kw == 1 && s->stride_d * s->stride_h * s->stride_w == 1 && s->od == s->id &&
         s->oh == s->ih && s->ow == s->iw && s->pad_front == 0 && s->pad_top == 0 && s->pad_left == 0 &&
         c->row_stride == s->iw * c->pixel_stride && c->plane_stride == s->ih * c->row_stride &&
         c->image_stride == s->id * c->plane_stride;
}

static void
fill_pointers (const LptConv *c, size_t m, size_t pixels, size_t channel, const uint8_t *pad_row, const uint8_t **ptr)
{
  const LptConvShape *s = &c->shape;
  Pixel first = pixel_of (s, m);

  if (is_dense (c))
    fill_run (ptr, pixels, c->in + m * c->pixel_stride + channel, c->pixel_stride);
  else
    for (size_t tap = 0; tap < s->kd * s->kh * s->kw; tap++)
      fill_tap (c, first, pixels, tap, channel, pad_row, ptr + tap * block_most (c));
}

/* --- few channels: rows copied with their padding --- */

typedef struct {
  const LptConv *conv;
  uint8_t       *rows;
  size_t         row_bytes, n_rows;   /* n_rows is the ring's size, for each tap along the planes */
  size_t         plane;               /* of the output */
  ptrdiff_t      y1;                  /* rows that it reads before this one are in the ring, the last n_rows of them */
} RowRing;

static uint8_t *
ring_row (const RowRing *ring, size_t kz, ptrdiff_t y)
{
  size_t slot = (size_t) (y + ring->conv->shape.pad_top);

  /* Planes that fit go without a division. */
  if (slot >= ring->n_rows)
    slot %= ring->n_rows;

  return ring->rows + (kz * ring->n_rows + slot) * ring->row_bytes;
}

static void
copy_row (const RowRing *ring, size_t kz, ptrdiff_t y)
{
  const LptConv *c = ring->conv;
  const LptConvShape *s = &c->shape;
  const uint8_t *from = plane_of (c, ring->plane, kz);
  uint8_t *to = ring_row (ring, kz, y);
  size_t width = (s->ow - 1) * s->stride_w + s->kw;
  size_t left = clamp_size (s->pad_left < 0 ? 0 : (size_t) s->pad_left, 0, width);
  size_t skipped = clamp_size (s->pad_left < 0 ? (size_t) -s->pad_left : 0, 0, s->iw);
  size_t inside = clamp_size (s->iw - skipped, 0, width - left);

  if (y < 0 || (size_t) y >= s->ih || !from)
    {
      memset (to, c->pad_value, ring->row_bytes);
      return;
    }

  from += (size_t) y * c->row_stride + skipped * c->pixel_stride;
  if (left > 0)
    memset (to, c->pad_value, left * s->ic);
  to += left * s->ic;
  if ((c->channel_stride == 1 || s->ic == 1) && c->pixel_stride == s->ic)
    memcpy (to, from, inside * s->ic);
  else if (s->ic == 3 && c->pixel_stride == 1)
    c->kernel->interleave (inside, from, from + c->channel_stride, from + 2 * c->channel_stride, to);
  else if (c->channel_stride == 1)
    for (size_t x = 0; x < inside; x++)
      memcpy (to + x * s->ic, from + x * c->pixel_stride, s->ic);
  else
    for (size_t x = 0; x < inside; x++)
      for (size_t ch = 0; ch < s->ic; ch++)
        to[x * s->ic + ch] = from[x * c->pixel_stride + ch * c->channel_stride];
  to += inside * s->ic;
  /* What is read behind the width meets weights of 0. */
  if (width > left + inside)
    memset (to, c->pad_value, (width - left - inside) * s->ic);
}

static void
fill_row_pointers (RowRing *ring, size_t m, size_t pixels, const uint8_t **ptr)
{
  const LptConvShape *s = &ring->conv->shape;
  size_t step = s->stride_w * s->ic, most = block_most (ring->conv);

  for (size_t i = 0; i < pixels; )
    {
      Pixel p = pixel_of (s, m + i);
      size_t n = s->ow - p.x < pixels - i ? s->ow - p.x : pixels - i;
      ptrdiff_t y0 = (ptrdiff_t) (p.y * s->stride_h) - s->pad_top;
      ptrdiff_t y1 = y0 + (ptrdiff_t) ((s->kh - 1) * s->dilation_h) + 1;

      if (p.plane != ring->plane || y0 >= ring->y1)
        {
          ring->plane = p.plane;
          ring->y1 = y0;
        }
      for (; ring->y1 < y1; ring->y1++)
        for (size_t kz = 0; kz < s->kd; kz++)
          copy_row (ring, kz, ring->y1);
      for (size_t tap = 0; tap < s->kd * s->kh; tap++)
        {
          const uint8_t *x = ring_row (ring, tap / s->kh, y0 + (ptrdiff_t) (tap % s->kh * s->dilation_h)) + p.x * step;

          fill_run (ptr + tap * most + i, n, x, step);
        }
      i += n;
    }
}

/* Pixels from m that one ring can serve: a block must not wrap into a new plane, whose rows would overwrite. */
static size_t
block_pixels (const LptConv *c, size_t m, size_t m1, bool ring)
{
  const LptConvShape *s = &c->shape;
  size_t pixels = lpt_gemm_block_rows (c->kernel, m1 - m, block_most (c));
  size_t plane_rest = s->oh * s->ow - m % (s->oh * s->ow);

  return ring && pixels > plane_rest ? plane_rest : pixels;
}

/* --- pixels that are not neighbours in memory --- */

/* A block of them is made here. */
typedef struct {
  uint8_t *out, *residual;            /* of the first pixel and channel 0 */
  size_t   ldo, ldr;
} Apart;

static Apart
apart_init (const LptConv *c, size_t element, size_t n0, size_t n1, uint8_t *room)
{
  size_t row = ALIGN_64 (c->shape.oc * element);

  return (Apart) { room + row - n0 * element, room + row + block_most (c) * row - n0, (n1 - n0) * element, n1 - n0 };
}

static void
apart_gather (const LptConv *c, const Apart *a, size_t m, size_t pixels, size_t n0, size_t n1)
{
  for (size_t i = 0; i < pixels; i++)
    memcpy (a->residual + i * a->ldr + n0, c->residual + lpt_conv_place_at (c->place, &c->shape, m + i) * c->ldr + n0,
            n1 - n0);
}

static void
apart_put (const LptConv *c, const Apart *a, size_t m, size_t pixels, size_t from, size_t bytes)
{
  const LptConvShape *s = &c->shape;

  for (size_t i = 0; i < pixels; )
    {
      size_t x = (m + i) % s->ow, n = s->ow - x < pixels - i ? s->ow - x : pixels - i, step = c->place->x * c->ldo;
      char *to = (char *) c->out + lpt_conv_place_at (c->place, s, m + i) * c->ldo + from;

      for (size_t end = i + n; i < end; i++, to += step)
        memcpy (to, a->out + i * a->ldo + from, bytes);
    }
}

/* The pixel @m, and images have no other: a product with one row. */
static bool
is_only_pixel (const LptConv *c, size_t m0, size_t m1)
{
  const LptConvShape *s = &c->shape;

  return m1 - m0 == 1 && s->groups == 1 && s->kd * s->kh * s->kw == 1 && s->id * s->ih * s->iw == 1
         && s->od * s->oh * s->ow == 1 && !(s->pad_front | s->pad_top | s->pad_left) && c->channel_stride == 1
         && !c->place;
}

static void
run_only_pixel (const LptConv *c, size_t m, size_t n0, size_t n1, void *workspace)
{
  const uint8_t *a = c->in + m * c->image_stride;
  LptGemmBlock block = { .kernel = c->kernel, .epilogue_kernel = c->epilogue_kernel, .epilogue = c->epilogue, .taps = 1,
                         .k = c->shape.ic, .n = c->shape.oc, .packed = c->packed, .out = (char *) c->out + m * c->ldo,
                         .ldo = c->ldo, .residual = c->residual ? c->residual + m * c->ldr : NULL, .ldr = c->ldr };

  lpt_gemm_block (&block, 1, &a, 1, n0, n1, workspace, (char *) workspace + 64);
}

static void
run_blocks (const LptConv *c, size_t m0, size_t m1, size_t n0, size_t n1, void *workspace)
{
  const LptConvShape *s = &c->shape;
  size_t ocg = s->oc / s->groups, icg = s->ic / s->groups, taps = conv_taps (c->kernel, s), k = conv_k (c->kernel, s);
  size_t most = block_most (c), one = ALIGN_64 (lpt_gemm_packed_size (c->kernel, taps, k, ocg));
  size_t element = c->epilogue->store == LPT_STORE_Q8 ? 1 : 4;
  bool few = copies_rows (c->kernel, s);
  const uint8_t **ptr = workspace;
  int32_t *row_sums = (int32_t *) ((char *) workspace + ALIGN_64 (taps * most * sizeof (void *)));
  uint8_t *rest = (uint8_t *) row_sums + ALIGN_64 (most * sizeof (int32_t)), *scratch = rest + ALIGN_64 (icg);
  RowRing ring = { .conv = c, .rows = rest, .plane = SIZE_MAX };
  Apart apart = { 0 };
  LptGemmBlock block = { .kernel = c->kernel, .epilogue_kernel = c->epilogue_kernel, .epilogue = c->epilogue,
                         .taps = taps, .k = k, .n = ocg, .ldo = c->ldo, .ldr = c->ldr };

  if (few)
    {
      ring.row_bytes = copied_row_bytes (s);
      ring.n_rows = copied_rows (c);
      scratch = rest + ring_bytes (c);
      /* The copies end in readable bytes and the packed weights in zeros: no tail for the micro kernel. Row
       * sums, though, must not count them. */
      if (!c->epilogue->weight_zp)
        block.k = (k + 3) / 4 * 4;
      if (c->kernel->sweep)
        {
          block.line = s->ow;
          block.line_over = true;
        }
    }
  else
    {
      memset (rest, c->pad_value, icg);
      if (c->pad_value == 0 && (s->pad_front || s->pad_top || s->pad_left || taps > 1))
        {
          block.zeros = rest;
          block.line = s->ow;
        }
      if (c->kernel->sweep && taps == 1 && !is_dense (c))
        block.line = s->ow;
    }

  if (c->place)
    {
      apart = apart_init (c, element, n0, n1, scratch);
      scratch += apart_bytes (c);
      block.ldo = apart.ldo;
      block.ldr = apart.ldr;
    }

  for (size_t m = m0; m < m1; )
    {
      size_t pixels = block_pixels (c, m, m1, few);
      uint8_t *out = c->place ? apart.out : (uint8_t *) c->out + m * c->ldo;
      const uint8_t *residual = !c->residual ? NULL : c->place ? apart.residual : c->residual + m * c->ldr;

      if (c->place && residual)
        apart_gather (c, &apart, m, pixels, n0, n1);
      if (few)
        fill_row_pointers (&ring, m, pixels, ptr);
      block.line_first = s->ow - m % s->ow;
      for (size_t group = n0 / ocg; group * ocg < n1; group++)
        {
          size_t first = group * ocg, from = n0 > first ? n0 - first : 0, to = n1 - first < ocg ? n1 - first : ocg;

          if (!few)
            fill_pointers (c, m, pixels, group * icg, rest, ptr);
          block.channel0 = first;
          block.packed = (const char *) c->packed + group * one;
          block.out = out + first * element;
          block.residual = residual ? residual + first : NULL;
          lpt_gemm_block (&block, pixels, ptr, most, from, to, row_sums, scratch);
        }
      if (c->place)
        apart_put (c, &apart, m, pixels, n0 * element, (n1 - n0) * element);
      m += pixels;
    }
}

void
lpt_conv_tile (const LptConv *c, size_t m0, size_t m1, size_t n0, size_t n1, void *workspace)
{
  if (is_only_pixel (c, m0, m1))
    run_only_pixel (c, m0, n0, n1, workspace);
  else
    run_blocks (c, m0, m1, n0, n1, workspace);
}

void
lpt_conv_tiling (const LptGemmKernel *kernel, const LptConvShape *s, LptCut *pixels, LptCut *channels)
{
  /* Each part is worth a task. Pixels are cut first, as long as enough of them pass while the weights of
   * a panel are near: at whole lines where tiles end with them anyway, else at tiles of the kernel. */
  size_t ocg = s->oc / s->groups, panel = lpt_gemm_panel (kernel, ocg), mr = lpt_gemm_rows (kernel, panel);
  size_t lines = s->batch * s->od * s->oh, m = lines * s->ow;
  double want = lpt_gemm_work (m, conv_taps (kernel, s) * conv_k (kernel, s), ocg) * (double) s->groups /
                lpt_gemm_part (kernel),
         most = (double) (m / 48);

  *pixels = lpt_cut_make (m, mr, want < most ? want : most);
  if (s->ow > 0 && s->ow % mr != 0 && lines >= pixels->cuts)
    *pixels = lpt_cut_make (m, s->ow, want < most ? want : most);
  /* Groups stay together. */
  *channels = lpt_cut_make (s->oc, s->groups > 1 ? s->oc : panel, want / (double) pixels->cuts);
}
