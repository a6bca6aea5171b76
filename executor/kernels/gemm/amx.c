/* executor/kernels/gemm/amx.c - block loop on AMX: tiles of 16 rows x 64 k times 64 k x 16 columns
 *
 * Two tiles of rows times two of columns in four tiles of sums: each step of 64 k loads four tiles for four products. The
 * packed order K4 is the one that the instruction reads, so panels are those of the 512-bit kernels, with nothing between taps.
 *
 * Tiles follow each other to and fro: every second one begins with its last k, every second panel with its last rows. What
 * two of them share, rows or columns, is read first where it was read last, and half of it is still in the first cache.
 *
 * A group, the rows of one tile, is read where it is if its rows are at a fixed distance in each tap and the tap's k are equal
 * steps of up to 64, or there is one tap: what that leaves of a step is copied. Other groups are copied once, tap behind tap,
 * and all panels read the copies; so are those whose taps are so short that the copies have far fewer steps, and rows across
 * lines of the cache if there are panels enough. What a panel's last step reads behind its weights meets zeros.
 *
 * Groups end with lines (LptGemmBlock), since rows of two lines are not at a fixed distance; those of a line are equal.
 *
 * Sums go through memory to the epilogue, which runs between the steps of the next tile: the two use different units.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "executor/kernels/eltwise/narrow512.h"
#include "executor/kernels/gemm/params512.h"
#include "executor/kernels/gemm/rows-amx.h"

#include <string.h>

typedef struct Waiting Waiting;

/* The next `rows` of a waiting tile. */
typedef void (*Store) (Waiting *w, size_t rows);

/* A tile whose sums wait for the epilogue. */
struct Waiting {
  Store          store;     /* NULL: nothing waits */
  const int32_t *acc;       /* PAIR rows of WIDE sums */
  const Params  *params;
  const int32_t *row_add;   /* or NULL */
  bool           lacks_bias;
  size_t         rows, done, columns;
  LptGemmOut     out;
};

typedef struct {
  const LptGemmBlock *b;
  const LptEpilogue  *e;
  const int32_t      *row_sums;
  const Group        *groups;
  size_t              n_groups;
  size_t              taps, tap_stride, steps;    /* as groups have them; steps in a tap */
  size_t              step, tile_rows, tile_step; /* k of a step; rows and step that tiles have now */
  Waiting             waiting;
  unsigned            turn, slot;                 /* of acc, of params */
  bool                back, upward;               /* the next tile's steps, the next panel's rows begin with the last */
  const int8_t       *ahead;                      /* weights that will be read */
  size_t              fetch_step;                 /* bytes of them for a step */
  _Alignas (64) int32_t acc[2][PAIR * WIDE];
  _Alignas (64) Params  params[2];
} Sweep;

#define BARRIER __asm__ volatile ("" : : : "memory")

/* Tiles: 0 to 3 sums, 4 and 5 rows, 6 and 7 columns; the latter four of `step` k. */
static void
configure (Sweep *s, size_t rows, size_t step)
{
  struct
  {
    uint8_t  palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t  rows[16];
  } all = { 1, 0, { 0 }, { 64, 64, 64, 64, (uint16_t) step, (uint16_t) step, 64, 64 },
            { 0, 0, 0, 0, 0, 0, (uint8_t) (step / 4), (uint8_t) (step / 4) } };

  if (rows == s->tile_rows && step == s->tile_step)
    return;
  s->tile_rows = rows;
  s->tile_step = step;
  for (int i = 0; i < 6; i++)
    all.rows[i] = (uint8_t) rows;
  /* GCC's intrinsic owns to the first bytes only. */
  __asm__ volatile ("" : : "r" (&all) : "memory");
  _tile_loadconfig (&all);
}

/* --- rows --- */

/* Fills groups and copies what cannot be read in its place, or should not be. */
static void
prepare (Sweep *s, const LptGemmBlock *b, size_t first, size_t end, const uint8_t *const *ptr, size_t ptr_stride,
         size_t columns, void *scratch)
{
  const size_t most = group_rows (b), step = tap_step (b->k), whole = b->k / STEP * STEP;
  Group *groups = scratch;
  size_t n = cut_groups (b, first, end, groups), bytes = round_up (row_bytes (b->taps, b->k), STEP), pitch = copy_pitch (bytes);
  const bool copies = is_worth_lines (b, ptr + first, end - first, columns);
  uint8_t *to = (uint8_t *) scratch + round_up (n * sizeof *groups, 64);
  bool in_steps;

  ptr += first;
  in_steps = step > 0 && !copies
             && (b->taps == 1 || (2 * b->taps * b->k / step <= 3 * bytes / STEP && is_direct (b, groups, n, ptr, ptr_stride)));
  s->groups = groups;
  s->n_groups = n;
  s->taps = in_steps ? b->taps : 1;
  s->tap_stride = ptr_stride;
  s->step = in_steps ? step : STEP;
  s->steps = in_steps ? b->k / step : bytes / STEP;
  for (Group *g = groups; g < groups + n; ptr += g++->rows)
    {
      const ptrdiff_t apart = g->rows > 1 ? ptr[1] - ptr[0] : 0;

      if (s->taps > 1)
        {
          *g = (Group) { ptr, NULL, ptr[(b->taps - 1) * ptr_stride] + (s->steps - 1) * s->step, apart, apart, g->rows, g->first };
          continue;
        }
      if (copies || b->taps > 1 || (g->rows < most && !b->line_over) || !is_regular (ptr, g->rows))
        {
          (composes (b) ? compose_rows : copy_rows) (g->rows, b->taps, b->k, ptr, ptr_stride, to, bytes, pitch);
          *g = (Group) { &g->own, to, to + (s->steps - 1) * s->step, (ptrdiff_t) pitch, (ptrdiff_t) pitch, g->rows, g->first };
          to += ROWS * pitch;
          continue;
        }
      *g = (Group) { &g->own, ptr[0], ptr[0] + (s->steps - 1) * s->step, apart, apart, g->rows, g->first };
      if (!in_steps)
        {
          const __mmask64 rest = ((__mmask64) 1 << (b->k - whole)) - 1;

          for (size_t i = 0; i < g->rows; i++)
            _mm512_store_si512 (to + i * STEP, _mm512_maskz_loadu_epi8 (rest, ptr[i] + whole));
          g->last = to;
          g->last_pitch = STEP;
          to += ROWS * STEP;
        }
    }
  BARRIER;
}

/* --- epilogue --- */

/* Words of the next rows; the flags are constants. */
INLINE void
store_kind (Waiting *w, size_t nb, size_t end, bool adds_rows, bool floats, bool biased)
{
  const Params *p = w->params;
  const __mmask16 m0 = w->columns >= 16 ? 0xffff : (__mmask16) ((1u << w->columns) - 1);
  const __mmask16 m1 = w->columns >= 32 ? 0xffff : w->columns > 16 ? (__mmask16) ((1u << (w->columns - 16)) - 1) : 0;
  const __m512 scale[2] = { p->v[0].scale, p->v[nb - 1].scale }, fbias[2] = { p->v[0].low, p->v[nb - 1].low };
  const __m512 low = p->flo, high = p->fhi;
  const int32_t *acc = w->acc + w->done * WIDE;
  uint8_t *out = w->out.out + w->done * w->out.ldo;

  for (size_t row = w->done; row < end; row++, acc += WIDE, out += w->out.ldo)
    for (size_t j = 0; j < nb; j++)
      {
        __m512i x = _mm512_load_si512 (acc + 16 * j);

        if (adds_rows)
          x = _mm512_add_epi32 (x, _mm512_set1_epi32 (w->row_add[row]));
        if (floats)
          {
            __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (x), scale[j]);

            if (biased)
              f = _mm512_add_ps (f, fbias[j]);
            x = _mm512_castps_si512 (_mm512_min_ps (high, _mm512_max_ps (low, f)));
          }
        _mm512_mask_storeu_epi32 (out + 64 * j, j == 0 ? m0 : m1, x);
      }
}

INLINE void
store_words (Waiting *w, size_t nb, size_t rows)
{
  const Params *p = w->params;
  const size_t end = w->rows - w->done < rows ? w->rows : w->done + rows;

  if (w->row_add && !p->floats)
    store_kind (w, nb, end, true, false, false);
  else if (w->row_add && p->has_fbias)
    store_kind (w, nb, end, true, true, true);
  else if (w->row_add)
    store_kind (w, nb, end, true, true, false);
  else if (!p->floats)
    store_kind (w, nb, end, false, false, false);
  else if (p->has_fbias)
    store_kind (w, nb, end, false, true, true);
  else
    store_kind (w, nb, end, false, true, false);
  w->done = end;
}

/* What a register of bytes, two rows of 32 columns or four of 16, is made of. */
typedef struct {
  const int32_t *acc, *row_add;
  uint8_t       *out;
  const uint8_t *residual;
  size_t         ldo, ldr, columns;
} Rows;

/* What sums lack, a constant: rows' zero points are not with a bias. */
enum { LACKS_NOTHING, LACKS_BIAS, LACKS_ROWS };

INLINE __m512i
sums (const Rows *r, const Params *p, int lacks, size_t row, size_t column)
{
  __m512i x = _mm512_load_si512 (r->acc + row * WIDE + column);

  if (lacks == LACKS_ROWS)
    return _mm512_add_epi32 (x, _mm512_set1_epi32 (r->row_add[row]));
  return lacks == LACKS_BIAS ? _mm512_add_epi32 (x, p->bias[column / 16]) : x;
}

/* The first `rows` of a register's rows. All but r are constants, or should be. */
INLINE void
store_register (const Rows *r, const Params *p, int stage, size_t nb, int lacks, bool adds, size_t rows, const PackLimits *limits,
                const RequantVec *v0, const RequantVec *v1)
{
  const size_t r1 = rows > 1 ? 1 : 0, r2 = rows > 2 ? 2 : 0, r3 = rows > 3 ? 3 : 0;
  __m512i x0 = stage_lanes (stage, v0, limits, sums (r, p, lacks, 0, 0)), x1, x2, x3, x;

  if (nb == 2)
    {
      x1 = stage_lanes (stage, v1, limits, sums (r, p, lacks, 0, 16));
      x2 = stage_lanes (stage, v0, limits, sums (r, p, lacks, r1, 0));
      x3 = stage_lanes (stage, v1, limits, sums (r, p, lacks, r1, 16));
    }
  else
    {
      x1 = stage_lanes (stage, v0, limits, sums (r, p, lacks, r1, 0));
      x2 = stage_lanes (stage, v0, limits, sums (r, p, lacks, r2, 0));
      x3 = stage_lanes (stage, v0, limits, sums (r, p, lacks, r3, 0));
    }
  x = in_order (pack_quarters (limits, STAGE_LACKS_ZP (stage), x0, x1, x2, x3));
  if (adds)
    x = add_bytes (LPT_ADD_SINGLE, LPT_REQUANT_SINGLE, &p->sum, NULL, x, narrow_load (4 / nb, rows, r->columns, r->residual, r->ldr));
  narrow_store (4 / nb, rows, r->columns, r->out, r->ldo, x);
}

INLINE void
store_rows (Rows r, const Params *p, int stage, size_t nb, int lacks, bool adds, size_t rows)
{
  const size_t at_once = 4 / nb;
  const PackLimits limits = p->limits;
  const RequantVec v0 = p->v[0], v1 = p->v[nb - 1];

  for (; rows >= at_once; rows -= at_once)
    {
      store_register (&r, p, stage, nb, lacks, adds, at_once, &limits, &v0, &v1);
      r.acc += at_once * WIDE;
      r.row_add += lacks == LACKS_ROWS ? at_once : 0;
      r.out += at_once * r.ldo;
      r.residual += adds ? at_once * r.ldr : 0;
    }
  if (rows > 0)
    store_register (&r, p, stage, nb, lacks, adds, rows, &limits, &v0, &v1);
}

INLINE void
store_codes (Waiting *w, int stage, size_t nb, size_t rows)
{
  const size_t done = w->done, n = w->rows - done < rows ? w->rows - done : rows;
  const Rows r = { w->acc + done * WIDE, w->row_add ? w->row_add + done : NULL, w->out.out + done * w->out.ldo,
                   w->out.residual ? w->out.residual + done * w->out.ldr : NULL, w->out.ldo, w->out.ldr, w->columns };

  w->done += n;
#define EITHER(lacks)                                                                                        \
  if (w->out.residual)                                                                                       \
    store_rows (r, w->params, stage, nb, lacks, true, n);                                                    \
  else                                                                                                       \
    store_rows (r, w->params, stage, nb, lacks, false, n);
  if (w->row_add)
    {
      EITHER (LACKS_ROWS)
    }
  else if (w->lacks_bias)
    {
      EITHER (LACKS_BIAS)
    }
  else
    {
      EITHER (LACKS_NOTHING)
    }
#undef EITHER
}

#define STORE(name, body)                                                                                    \
  static void                                                                                                \
  name (Waiting *w, size_t rows)                                                                             \
  {                                                                                                          \
    body;                                                                                                    \
  }
STORE (one_fma_16, store_codes (w, STAGE_ONE_FMA, 1, rows))
STORE (one_fma_32, store_codes (w, STAGE_ONE_FMA, 2, rows))
STORE (fma_16, store_codes (w, STAGE_FMA, 1, rows))
STORE (fma_32, store_codes (w, STAGE_FMA, 2, rows))
STORE (float_16, store_codes (w, STAGE_FLOAT, 1, rows))
STORE (float_32, store_codes (w, STAGE_FLOAT, 2, rows))
STORE (single_16, store_codes (w, STAGE_SINGLE, 1, rows))
STORE (single_32, store_codes (w, STAGE_SINGLE, 2, rows))
STORE (words_16, store_words (w, 1, rows))
STORE (words_32, store_words (w, 2, rows))

/* By stage and panel width. */
static const Store stores[][2] = {
  [STAGE_NONE] = { NULL, NULL }, [STAGE_ONE_FMA] = { one_fma_16, one_fma_32 }, [STAGE_FMA] = { fma_16, fma_32 },
  [STAGE_FLOAT] = { float_16, float_32 }, [STAGE_SINGLE] = { single_16, single_32 }, [STAGE_WORDS] = { words_16, words_32 },
};

/* --- products --- */

/* The next panel's weights come nearer, as many in each step. */
INLINE void
fetch (Sweep *s)
{
  for (size_t i = 0; i < s->fetch_step; i += 64)
    _mm_prefetch ((const char *) s->ahead + i, _MM_HINT_T1);
  s->ahead += s->fetch_step;
}

/* mt tiles of rows, nb of columns, into acc, all steps from the first or from the last on, with the bias of `params` or none;
 * in between, the stage of the tile that waits. */
INLINE void
products (Sweep *s, size_t mt, size_t nb, const Group *g, const int8_t *b, const Params *params, Waiting *w, int32_t *acc)
{
  const size_t all = s->taps * s->steps, piece = w->store ? ((w->rows + all - 1) / all + 3) / 4 * 4 : 0;
  const ptrdiff_t columns = (ptrdiff_t) nb * 64, step = (ptrdiff_t) s->step, way = s->back ? -1 : 1;
  const ptrdiff_t weights = step / 4 * columns, first = s->back ? (ptrdiff_t) s->steps - 1 : 0;
  int32_t *second = acc + g[0].rows * WIDE;
  size_t tap = s->back ? s->taps - 1 : 0;

  if (params)
    {
      /* The same bias in every row. */
      _tile_loadd (0, &params->bias[0], 0);
      if (nb > 1)
        _tile_loadd (1, &params->bias[1], 0);
      if (mt > 1)
        _tile_loadd (2, &params->bias[0], 0);
      if (mt > 1 && nb > 1)
        _tile_loadd (3, &params->bias[1], 0);
    }
  else
    {
      _tile_zero (0);
      _tile_zero (1);
      _tile_zero (2);
      _tile_zero (3);
    }
  if (s->back)
    b += (ptrdiff_t) (all - 1) * weights;
  for (size_t taps = s->taps; taps > 0; taps--, tap += (size_t) way)
    {
      const uint8_t *a0 = g[0].at[tap * s->tap_stride] + first * step, *a1 = g[mt - 1].at[tap * s->tap_stride] + first * step;
      const size_t last = tap + 1 < s->taps ? 0 : s->back ? s->steps : 1;

      for (size_t k = s->steps; k > 0; k--)
        {
          const bool ends = k == last;
          const uint8_t *r0 = ends ? g[0].last : a0, *r1 = ends ? g[mt - 1].last : a1;
          const ptrdiff_t pitch0 = ends ? g[0].last_pitch : g[0].pitch, pitch1 = ends ? g[mt - 1].last_pitch : g[mt - 1].pitch;

          _tile_loadd (6, b, columns);
          _tile_loadd (4, r0, pitch0);
          _tile_dpbusd (0, 4, 6);
          if (nb > 1)
            {
              _tile_loadd (7, b + 64, columns);
              _tile_dpbusd (1, 4, 7);
            }
          if (mt > 1)
            {
              _tile_loadd (5, r1, pitch1);
              _tile_dpbusd (2, 5, 6);
            }
          if (mt > 1 && nb > 1)
            _tile_dpbusd (3, 5, 7);
          if (s->fetch_step)
            fetch (s);
          if (w->done < w->rows)
            w->store (w, piece);
          a0 += way * step;
          a1 += way * step;
          b += way * weights;
        }
    }
  /* Rows that the first tile has too many are written over by the second. */
  _tile_stored (0, acc, WIDE * 4);
  if (nb > 1)
    _tile_stored (1, acc + 16, WIDE * 4);
  BARRIER;
  if (mt > 1)
    _tile_stored (2, second, WIDE * 4);
  if (mt > 1 && nb > 1)
    _tile_stored (3, second + 16, WIDE * 4);
  BARRIER;
  /* What was read last is in the first cache: the next tile, which has the same rows or the same columns, begins with it. */
  s->back = !s->back;
}

/* Whether the stage adds the bias. Loading it into the tiles of sums takes as long as two steps, and few steps hide less of it. */
static bool
adds_late (const Sweep *s)
{
  return s->taps * s->steps <= LATE && s->e->store == LPT_STORE_Q8 && !s->e->weight_zp;
}

/* All rows of the pass times the panel of columns from j on. */
INLINE void
run_panel (Sweep *s, size_t nb, size_t j)
{
  const LptGemmBlock *b = s->b;
  const size_t element = s->e->store == LPT_STORE_Q8 ? 1 : 4, columns = b->n - j < 16 * nb ? b->n - j : 16 * nb;
  const size_t bytes = row_bytes (b->taps, b->k), pairs = (s->n_groups + 1) / 2, all = s->taps * s->steps * pairs;
  const int8_t *panel = (const int8_t *) b->packed + j * bytes;
  Params *params = stage_of (s->e) != STAGE_NONE ? &s->params[s->slot ^= 1] : NULL;
  const Params *loaded = adds_late (s) ? NULL : params;   /* whose bias the tiles of sums begin with */
  Store store = NULL;

  s->ahead = panel + 16 * nb * bytes;
  s->fetch_step = 16 * nb * bytes / all;
  if (params)
    {
      lpt_gemm_params__avx512vnni (s->e, b->channel0 + j, columns, params);
      store = stores[params->stage][nb - 1];
    }
  BARRIER;
  for (size_t i = 0; i < pairs; i++)
    {
      const size_t at = 2 * (s->upward ? pairs - 1 - i : i);
      const Group *g = s->groups + at;
      const bool two = at + 1 < s->n_groups;
      const size_t rows = g[0].rows + (two ? g[1].rows : 0), row = g->first;
      int32_t *acc = s->acc[s->turn ^= 1];
      uint8_t *out = (uint8_t *) b->out + row * b->ldo + j * element;

      if (two)
        products (s, 2, nb, g, panel, loaded, &s->waiting, acc);
      else
        products (s, 1, nb, g, panel, loaded, &s->waiting, acc);
      if (store)
        s->waiting = (Waiting) { store, acc, params, s->e->weight_zp ? s->row_sums + row : NULL, !loaded, rows, 0, columns,
                                 { out, b->ldo, s->e->sum_fusable && b->residual ? b->residual + row * b->ldr + j : NULL, b->ldr } };
      else
        b->epilogue_kernel->run (s->e, rows, columns, b->channel0 + j, acc, WIDE, s->row_sums + row, out, b->ldo, NULL, 0);
    }
  s->upward = !s->upward;
}

/* Rows that pass all panels together. Copies should stay in the first cache, unless the weights would come from the third one
 * for each of them. */
static size_t
pass_rows (const LptGemmBlock *b, size_t rows, size_t columns)
{
  const size_t first = 24 * 1024, second = 1024 * 1024;
  size_t bytes = round_up (row_bytes (b->taps, b->k), STEP), most;

  if (b->taps == 1 || (b->line_over && tap_step (b->k) > 0) || bytes * columns > second)
    return rows;
  most = first / bytes / PAIR * PAIR;
  return most > PAIR ? most : PAIR;
}

static void
sweep_run (const LptGemmBlock *b, const LptEpilogue *e, size_t rows, const uint8_t *const *ptr, size_t ptr_stride, size_t n0,
           size_t n1, const int32_t *row_sums, void *scratch)
{
  const size_t pass = pass_rows (b, rows, n1 - n0);
  Sweep s;

  s.b = b;
  s.e = e;
  s.row_sums = row_sums;
  s.waiting = (Waiting) { .store = NULL };
  s.turn = s.slot = 0;
  s.back = s.upward = false;
  s.tile_rows = 0;
  for (size_t first = 0; first < rows; first += pass)
    {
      prepare (&s, b, first, rows - first < pass ? rows : first + pass, ptr, ptr_stride, n1 - n0, scratch);
      configure (&s, group_rows (b), s.step);
      for (size_t j = n0; j < n1; j += WIDE)
        if (b->n - j > 16)
          run_panel (&s, 2, j);
        else
          run_panel (&s, 1, j);
    }
  if (s.waiting.store)
    s.waiting.store (&s.waiting, PAIR);
  _tile_release ();
}

const LptGemmSweep lpt_gemm_sweep__amx = {
  .least = 5, .step = PAIR, .depth = 64, .part = 1 << 20, .over = ROWS * WIDE * 4, .bytes = sweep_bytes, .run = sweep_run,
};

void
lpt_gemm_u8s8s32_32x32c64__amx (const LptGemmTile *t, int32_t *acc)
{
  lpt_gemm_u8s8s32_7x64c4__avx512vnni (t, acc);
}
