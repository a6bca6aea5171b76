/* tests/kernels/test-conv.c - convolution and depthwise convolution of every row against plain loops
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kernels/kernel-test.h"

#include "executor/kernels/dwconv/dwconv.h"

typedef struct {
  LptConvShape s;
  bool         is_unsigned, planar, wzp, q8, residual, hwio;
} Case;

/* Everything one case needs; the reference result is in `want`. */
typedef struct {
  Case           c;
  uint8_t       *in, *weights, *residual;
  LptConvWeights w;
  size_t         pixel, row, plane, image, channel, ldo, ldr, pixels, element;
  LptConvPlace   place;
  bool           apart;
  int32_t       *bias, *zps, *mult, *shift, *rest, *sums;
  LptRequantFma  fma;
  LptEpilogue    e;
  LptAdd         add;
  uint8_t         table[256];
  uint8_t        pad;
  Buffer         want, got;
} Data;

static size_t
out_size (size_t in, size_t k, size_t stride, size_t dilation, ptrdiff_t pad)
{
  size_t reach = (k - 1) * dilation + 1, padded = in + (pad < 0 ? 0 : 2 * (size_t) pad);

  return padded < reach ? 0 : (padded - reach) / stride + 1;
}

/* In a larger output, where one pixel is ldo or ldr from the next. */
static LptConvPlace
random_place (const LptConvShape *s)
{
  LptConvPlace p = { .x = (size_t) random_range (1, 3) };

  p.y = p.x * s->ow * (size_t) random_range (1, 2);
  p.z = p.y * s->oh + (size_t) random_range (0, 2);
  p.image = p.z * s->od;
  p.first = (size_t) random_range (0, 2);
  return p;
}

static void
draw_input (Data *d, const LptConvShape *s)
{
  if (d->c.planar)
    {
      d->channel = s->id * s->ih * s->iw + 3;
      d->pixel = 1;
      d->row = s->iw;
      d->plane = s->ih * s->iw;
      d->image = s->ic * d->channel;
    }
  else
    {
      d->channel = 1;
      d->pixel = s->ic + (random_u32 () % 2 ? 0 : 5);
      d->row = d->pixel * s->iw + (random_u32 () % 2 ? 0 : 7);
      d->plane = d->row * s->ih + (random_u32 () % 2 ? 0 : 3);
      d->image = d->plane * s->id;
    }
  d->in = exact_bytes ((s->batch - 1) * d->image + (s->id - 1) * d->plane + (s->ih - 1) * d->row + (s->iw - 1) * d->pixel
                       + (s->ic - 1) * d->channel + 1);
}

static void
draw_weights (Data *d, const LptConvShape *s)
{
  size_t icg = s->ic / s->groups, taps = (s->repeats ? s->repeats : 1) * s->kd * s->kh * s->kw;

  d->weights = exact_bytes (taps * icg * s->oc);
  d->w = (LptConvWeights) { .data = d->weights, .is_unsigned = d->c.is_unsigned };
  if (d->c.hwio)
    {
      d->w.n_stride = 1;
      d->w.c_stride = (ptrdiff_t) s->oc;
      d->w.kx_stride = (ptrdiff_t) (icg * s->oc);
      d->w.ky_stride = (ptrdiff_t) (s->kw * icg * s->oc);
    }
  else
    {
      d->w.kx_stride = 1;
      d->w.ky_stride = (ptrdiff_t) s->kw;
      d->w.c_stride = (ptrdiff_t) taps;
      d->w.n_stride = (ptrdiff_t) (taps * icg);
    }
}

/* Codes of u8 or i8, with or without narrower limits, a residual, tables. */
static void
draw_epilogue (Data *d, const LptConvShape *s)
{
  const Case *c = &d->c;
  size_t params = s->oc + LPT_CHANNEL_PAD - 1;

  d->bias = (int32_t *) exact_bytes (params * 4);
  d->zps = (int32_t *) exact_bytes (params * 4);
  d->mult = (int32_t *) exact_bytes (params * 4);
  d->shift = (int32_t *) exact_bytes (params * 4);
  d->rest = (int32_t *) exact_bytes (params * 4);
  d->sums = (int32_t *) exact_bytes (params * 4);
  for (size_t i = 0; i < params; i++)
    {
      d->bias[i] = random_range (-100000, 100000);
      d->zps[i] = random_range (-128, 127);
      d->mult[i] = random_range (1 << 30, INT32_MAX);
      d->shift[i] = -random_range (random_u32 () % 8 ? 6 : 1, 10);
    }
  /* The shift of 14 is one that pairs of 16 bits cannot make. */
  bool is_signed = random_u32 () % 3 == 0, sum_signed = random_u32 () % 3 == 0;
  int shift = random_u32 () % 4 ? 20 : 14;

  d->add = (LptAdd) { .form = LPT_ADD_SINGLE, .zp = 5, .lo = sum_signed ? -128 : 0, .hi = sum_signed ? 127 : 255,
                      .xor_a = is_signed ? 0x80 : 0, .xor_b = random_u32 () % 2 ? 0x80 : 0, .m1 = 700000 >> (20 - shift),
                      .m2 = 900000 >> (20 - shift), .shift = shift };
  d->e = (LptEpilogue) { .store = c->q8 ? LPT_STORE_Q8 : LPT_STORE_I32, .scheme = LPT_REQUANT_SINGLE,
                         .zp = is_signed ? -28 : 100, .lo = is_signed ? -128 : 0, .hi = is_signed ? 127 : 255,
                         .bias = d->bias, .mult = d->mult, .shift = d->shift, .weight_zp = c->wzp ? d->zps : NULL };
  if (random_u32 () % 3 == 0)
    {
      d->e.lo += random_range (0, 100);
      d->e.hi -= random_range (0, 100);
      d->add.hi -= random_range (0, 200);
    }
  for (int i = 0; i < 256; i++)
    d->table[i] = (uint8_t) random_u32 ();
  if (c->q8 && random_u32 () % 4 == 0)
    d->e.table = d->table;
  if (c->residual && c->q8)
    d->e.add = &d->add;
  if (d->e.add && random_u32 () % 4 == 0)
    d->e.add_table = d->table;
  if (random_u32 () % 2)
    d->e.rest = d->rest;
  d->fma = (LptRequantFma) { (int32_t *) exact_bytes (params * 4), (float *) exact_bytes (params * 4),
                             (float *) exact_bytes (params * 4), (float *) exact_bytes (params * 4) };
  if (random_u32 () % 4)
    d->e.fma = d->fma;
  lpt_epilogue_prepare (&d->e, s->oc, 1 << 30);
}

/* What the loops of the definition give, in d->want. */
static void
compute (Data *d, const LptConvShape *s)
{
  size_t icg = s->ic / s->groups, ocg = s->oc / s->groups, n_stages;
  size_t rows = (s->repeats ? s->repeats : 1) * s->kd * s->kh;
  const LptEpilogueKernel *scalar = lpt_epilogue_kernels (&n_stages);
  int32_t acc[1 + 16];

  scalar += n_stages - 1;
  for (size_t m = 0; m < d->pixels; m++)
    for (size_t n = 0; n < s->oc; n++)
      {
        size_t b = m / s->ow / s->oh / s->od, oz = m / s->ow / s->oh % s->od, oy = m / s->ow % s->oh, ox = m % s->ow, g = n / ocg;
        size_t at = lpt_conv_place_at (&d->place, s, m);
        uint32_t sum = 0, window = 0;
        int32_t row_sum;

        for (size_t ky = 0; ky < rows; ky++)
          for (size_t kx = 0; kx < s->kw; kx++)
            for (size_t ch = 0; ch < icg; ch++)
              {
                size_t z = oz * s->stride_d + ky % (s->kd * s->kh) / s->kh * s->dilation_d - (size_t) s->pad_front;
                size_t y = oy * s->stride_h + ky % s->kh * s->dilation_h - (size_t) s->pad_top;
                size_t x = ox * s->stride_w + kx * s->dilation_w - (size_t) s->pad_left;
                int32_t v = d->pad;
                int8_t w = (int8_t) (d->weights[(ptrdiff_t) ky * d->w.ky_stride + (ptrdiff_t) kx * d->w.kx_stride
                                                + (ptrdiff_t) ch * d->w.c_stride + (ptrdiff_t) n * d->w.n_stride]
                                     ^ (d->c.is_unsigned ? 0x80 : 0));

                if (z < s->id && y < s->ih && x < s->iw)
                  v = d->in[b * d->image + z * d->plane + y * d->row + x * d->pixel + (g * icg + ch) * d->channel];
                sum += (uint32_t) (v * w);
                window += (uint32_t) v;
              }
        acc[0] = (int32_t) sum;
        row_sum = (int32_t) window;
        scalar->run (&d->e, 1, 1, n, acc, 1, &row_sum, d->want.data + at * d->ldo + n * d->element, 0,
                     d->residual + at * d->ldr + n, 0);
      }
}

static void
data_init (Data *d, const Case *c)
{
  const LptConvShape *s = &d->c.s;
  size_t all;

  memset (d, 0, sizeof *d);
  d->c = *c;
  draw_input (d, s);
  draw_weights (d, s);
  d->pad = random_u32 () % 2 ? (uint8_t) random_u32 () : 0;
  draw_epilogue (d, s);
  d->element = c->q8 ? 1 : 4;
  d->pixels = s->batch * s->od * s->oh * s->ow;
  d->apart = random_u32 () % 3 == 0;
  d->place = d->apart ? random_place (s) : (LptConvPlace) { 0, 1, s->ow, s->oh * s->ow, s->od * s->oh * s->ow };
  all = lpt_conv_place_at (&d->place, s, d->pixels - 1) + 1;
  d->ldo = s->oc * d->element + (c->q8 ? 1 : 4);
  d->ldr = s->oc + 2;
  d->residual = exact_bytes (all * d->ldr);
  d->want = buffer_new ((all - 1) * d->ldo + s->oc * d->element);
  d->got = buffer_new (d->want.size);
  compute (d, s);
}

static void
data_clear (Data *d)
{
  bytes_free (d->in);
  bytes_free (d->weights);
  bytes_free (d->residual);
  bytes_free (d->bias);
  bytes_free (d->zps);
  bytes_free (d->mult);
  bytes_free (d->shift);
  bytes_free (d->rest);
  bytes_free (d->sums);
  bytes_free (d->fma.offset);
  bytes_free (d->fma.high);
  bytes_free (d->fma.low);
  bytes_free (d->fma.half);
  buffer_free (&d->want);
  buffer_free (&d->got);
}

static bool
data_check (const Data *d, const char *what)
{
  const LptConvShape *s = &d->c.s;

  if (memcmp (d->want.all, d->got.all, d->want.size + 2 * GUARD) == 0)
    return true;
  printf ("# %s batch %zu in %zux%zux%zux%zu out %zux%zux%zux%zu groups %zu kernel %zux%zux%zu stride %zu %zu %zu dilation %zu %zu %zu"
          " pad %td %td %td q8 %d apart %d: byte %zd\n", what, s->batch, s->id, s->ih, s->iw, s->ic, s->od, s->oh, s->ow, s->oc, s->groups,
          s->kd, s->kh, s->kw, s->stride_d, s->stride_h, s->stride_w, s->dilation_d, s->dilation_h, s->dilation_w, s->pad_front,
          s->pad_top, s->pad_left, d->c.q8, d->apart, buffer_difference (&d->want, &d->got));
  return false;
}

static bool
run_conv (const LptGemmKernel *row, const Case *c)
{
  const LptConvShape *s = &c->s;
  Data d;
  bool ok;
  LptCut pixels, channels;

  data_init (&d, c);

  LptConv conv = { .kernel = row, .epilogue_kernel = lpt_epilogue_kernel (row->needs), .epilogue = &d.e, .shape = *s,
                   .pad_value = d.pad, .in = d.in, .pixel_stride = d.pixel, .row_stride = d.row, .plane_stride = d.plane,
                   .image_stride = d.image, .place = d.apart ? &d.place : NULL, .channel_stride = d.channel, .out = d.got.data, .ldo = d.ldo,
                   .residual = d.e.add ? d.residual : NULL, .ldr = d.ldr };
  void *packed = aligned_bytes (lpt_conv_packed_size (row, s)), *workspace = aligned_bytes (lpt_conv_workspace (&conv));

  lpt_conv_pack (row, s, &d.w, packed, d.sums);
  conv.packed = packed;
  lpt_conv_tiling (row, s, &pixels, &channels);
  if (random_u32 () % 2)
    pixels = lpt_cut_make (d.pixels, (size_t) random_range (1, 30), random_range (1, 16));
  for (size_t i = 0; i < pixels.cuts; i++)
    for (size_t j = 0; j < channels.cuts; j++)
      lpt_conv_tile (&conv, lpt_cut_at (&pixels, i), lpt_cut_at (&pixels, i + 1), lpt_cut_at (&channels, j),
                     lpt_cut_at (&channels, j + 1), workspace);
  ok = data_check (&d, row->name);
  bytes_free (packed);
  bytes_free (workspace);
  data_clear (&d);
  return ok;
}

static bool
run_dwconv (const LptDwconvKernel *row, const Case *c)
{
  const LptConvShape *s = &c->s;
  Data d;
  bool ok;
  size_t step = (size_t) random_range (1, 5), cut = s->oc > 16 && random_u32 () % 2 ? 16 : s->oc;

  data_init (&d, c);

  LptDwconv conv = { .kernel = row, .epilogue_kernel = lpt_epilogue_kernel (row->needs), .epilogue = &d.e, .shape = *s,
                     .pad_value = d.pad, .in = d.in, .pixel_stride = d.pixel, .row_stride = d.row,
                     .plane_stride = d.plane, .image_stride = d.image, .place = d.apart ? &d.place : NULL, .out = d.got.data, .ldo = d.ldo,
                     .residual = d.e.add ? d.residual : NULL, .ldr = d.ldr };
  void *packed = aligned_bytes (lpt_dwconv_packed_size (s)), *workspace = aligned_bytes (lpt_dwconv_workspace (&conv));

  lpt_dwconv_pack (s, &d.w, packed, d.sums);
  conv.packed = packed;
  for (size_t r = 0, all = s->batch * s->od * s->oh; r < all; r += step)
    {
      size_t end = r + step < all ? r + step : all;

      lpt_dwconv_tile (&conv, r, end, 0, cut, workspace);
      if (cut < s->oc)
        lpt_dwconv_tile (&conv, r, end, cut, s->oc, workspace);
    }
  ok = data_check (&d, row->name);
  bytes_free (packed);
  bytes_free (workspace);
  data_clear (&d);
  return ok;
}

static Case
random_case (bool depthwise)
{
  for (;;)
    {
      Case c = { .s = { .batch = (size_t) random_range (1, 2), .ih = (size_t) random_range (1, 13),
                        .iw = (size_t) random_range (1, 20), .kh = (size_t) random_range (1, 5),
                        .kw = (size_t) random_range (1, 5), .stride_h = (size_t) random_range (1, 3),
                        .stride_w = (size_t) random_range (1, 3), .dilation_h = 1, .dilation_w = 1,
                        .pad_top = random_range (-1, 3), .pad_left = random_range (-1, 3), .groups = 1,
                        .id = 1, .od = 1, .kd = 1, .stride_d = 1, .dilation_d = 1 },
                 .is_unsigned = random_u32 () % 2, .q8 = random_u32 () % 4 != 0, .residual = random_u32 () % 3 == 0,
                 .hwio = random_u32 () % 2 };

      if (random_u32 () % 4 == 0)
        {
          c.s.dilation_h = (size_t) random_range (1, 2);
          c.s.dilation_w = (size_t) random_range (1, 3);
        }
      if (random_u32 () % 3 == 0)
        {
          c.s.id = (size_t) random_range (1, 5);
          c.s.kd = (size_t) random_range (1, 3);
          c.s.stride_d = (size_t) random_range (1, 2);
          c.s.dilation_d = (size_t) random_range (1, 2);
          c.s.pad_front = random_range (-1, 2);
          c.s.od = out_size (c.s.id, c.s.kd, c.s.stride_d, c.s.dilation_d, c.s.pad_front);
        }
      if (random_u32 () % 3 == 0)
        c.s.kh = c.s.kw = random_u32 () % 2 ? 3 : 1;
      if (depthwise)
        {
          c.s.ic = random_u32 () % 4 ? (size_t) random_range (1, 100) : 32 * (size_t) random_range (1, 3);
          c.s.groups = c.s.ic;
          c.s.oc = c.s.ic * (random_u32 () % 3 ? 1 : (size_t) random_range (1, 4));
          c.s.stride_w = random_u32 () % 2 ? 1 : c.s.stride_w;
          c.s.repeats = (size_t) random_range (0, 3);
          /* Long kernels of one row, and lines that are made in pieces. */
          if (random_u32 () % 8 == 0)
            {
              c.s.kh = c.s.ih = c.s.kd = c.s.id = c.s.od = 1;
              c.s.pad_front = c.s.pad_top = 0;
              c.s.iw = (size_t) random_range (500, 1100);
              c.s.kw = (size_t) random_range (1, 40);
              c.s.pad_left = random_range (0, 20);
              c.s.ic = c.s.groups = c.s.oc = (size_t) random_range (1, 3) * 32;
            }
          /* Two rows of 32 channels together. */
          if (c.s.ic % 32 == 0 && random_u32 () % 2)
            {
              c.s.kh = c.s.kw = 3;
              c.s.stride_w = c.s.dilation_w = 1;
            }
        }
      else
        {
          c.wzp = random_u32 () % 4 == 0;
          c.s.groups = random_u32 () % 4 ? 1 : (size_t) random_range (1, 4);
          c.s.ic = c.s.groups * (random_u32 () % 2 ? (size_t) random_range (1, 7) : (size_t) random_range (8, 70));
          c.s.oc = c.s.groups * (size_t) random_range (1, 70);
          /* Whole steps of 64 along lines of several tiles. */
          if (random_u32 () % 8 == 0)
            {
              c.s.ic = c.s.groups * 64 / (c.s.groups == 1 && c.s.kw == 4 ? 4 : 1);
              c.s.iw = (size_t) random_range (12, 60);
            }
          c.planar = lpt_conv_takes_planes (&c.s) && random_u32 () % 2;
        }
      c.s.oh = out_size (c.s.ih, c.s.kh, c.s.stride_h, c.s.dilation_h, c.s.pad_top);
      c.s.ow = out_size (c.s.iw, c.s.kw, c.s.stride_w, c.s.dilation_w, c.s.pad_left);
      /* Asymmetric padding: one row or column less at the end. */
      c.s.oh -= c.s.oh > 1 && random_u32 () % 3 == 0;
      c.s.ow -= c.s.ow > 1 && random_u32 () % 3 == 0;
      if (c.s.od && c.s.oh && c.s.ow)
        return c;
    }
}

int
main (void)
{
  LptCpu cpu = test_cpu ();
  size_t n;
  const LptGemmKernel *gemm = lpt_gemm_kernels (&n);
  const int draws = test_draws (600);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, gemm[i].needs))
        {
          test_skip (gemm[i].name);
          continue;
        }
      for (int j = 0; j < draws; j++)
        {
          Case c = random_case (false);

          ok = run_conv (&gemm[i], &c) && ok;
        }
      Case first = { .s = { 1, 37, 41, 3, 19, 21, 64, 1, 7, 7, 2, 2, 1, 1, 3, 3, 1, 1, 1, 1, 1, 0 }, .q8 = true };
      Case wide = { .s = { 2, 9, 230, 3, 9, 230, 20, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 }, .q8 = true, .planar = true };
      Case deep = { .s = { 1, 9, 70, 3, 9, 70, 20, 1, 3, 3, 1, 1, 1, 1, 1, 1, 6, 6, 3, 1, 1, 1 }, .q8 = true, .planar = true };

      ok = run_conv (&gemm[i], &first) && run_conv (&gemm[i], &wide) && run_conv (&gemm[i], &deep) && ok;
      test_report (ok, "convolution on %s: %d cases", gemm[i].name, draws + 3);
    }

  const LptDwconvKernel *dw = lpt_dwconv_kernels (&n);

  for (size_t i = 0; i < n; i++)
    {
      bool ok = true;

      if (!lpt_cpu_has (cpu, dw[i].needs))
        {
          test_skip (dw[i].name);
          continue;
        }
      for (int j = 0; j < draws; j++)
        {
          Case c = random_case (true);

          ok = run_dwconv (&dw[i], &c) && ok;
        }
      test_report (ok, "%s: %d cases", dw[i].name, draws);
    }
  return test_end ();
}
