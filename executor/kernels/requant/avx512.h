/* executor/kernels/requant/avx512.h - schemes and sums on sixteen lanes of AVX-512
 *
 * The vector forms of requant-scalar.h and of lpt_add_code (), for parameters that lpt_epilogue_prepare () or add_fits
 * () accept. Even and odd lanes are multiplied apart; the odd results are shifted so that they land in the
 * upper halves, and one blend joins both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <immintrin.h>

#include "executor/kernels/lpt-isa.h"
#include "executor/kernels/requant/requant.h"

#define INLINE static inline __attribute__ ((always_inline))

/* Single rounding where every right shift is 33 or more: the rounding term then lies in the upper word of the product,
 * and only that word is needed. */
#define REQUANT_SINGLE_HIGH LPT_REQUANT_N_SCHEMES

typedef struct {
  __m512i mult, mult_odd;        /* fixed point */
  __m512i a, b, c;               /* single: rounding of even and odd lanes, shift; others: e and mask */
  __m512  scale;                 /* float; of LptRequantFma: high */
  __m512  low, half;
} RequantVec;

/* Parameters of sixteen channels. `scheme` is a constant at every call. */
INLINE RequantVec
requant_vec (int scheme, __m512i mult, __m512i shift, __m512 scale)
{
  RequantVec v;
  const __m512i one = _mm512_set1_epi32 (1);

  v.mult = mult;
  v.mult_odd = _mm512_srli_epi64 (mult, 32);
  v.scale = scale;
  v.a = v.b = v.c = one;
  if (scheme == LPT_REQUANT_SINGLE)
    {
      __m512i right = _mm512_sub_epi32 (_mm512_set1_epi32 (31), shift);
      __m512i even = _mm512_and_si512 (right, _mm512_set1_epi64 (0xffffffff)), odd = _mm512_srli_epi64 (right, 32);
      const __m512i one64 = _mm512_set1_epi64 (1);

      v.a = _mm512_sllv_epi64 (one64, _mm512_sub_epi64 (even, one64));
      v.b = _mm512_sllv_epi64 (one64, _mm512_sub_epi64 (odd, one64));
      v.c = _mm512_sub_epi32 (right, _mm512_set1_epi32 (32));
    }
  else if (scheme == REQUANT_SINGLE_HIGH)
    {
      v.b = _mm512_sub_epi32 (_mm512_set1_epi32 (-1), shift);
      v.a = _mm512_sllv_epi32 (one, _mm512_sub_epi32 (v.b, one));
    }
  else if (scheme != LPT_REQUANT_FLOAT)
    {
      v.a = _mm512_sub_epi32 (_mm512_setzero_si512 (), shift);
      v.b = _mm512_sub_epi32 (_mm512_sllv_epi32 (one, v.a), one);
    }
  return v;
}

/* Adds rests to single rounding. */
INLINE void
add_rests (RequantVec *v, __m512i rest)
{
  v->a = _mm512_add_epi64 (v->a, _mm512_srai_epi64 (_mm512_slli_epi64 (rest, 32), 32));
  v->b = _mm512_add_epi64 (v->b, _mm512_srai_epi64 (rest, 32));
}

INLINE __m512i
srdhm_vec (__m512i x, const RequantVec *v)
{
  const __m512i half = _mm512_set1_epi64 (1 << 30);
  __m512i even = _mm512_add_epi64 (_mm512_mul_epi32 (x, v->mult), half);
  __m512i odd = _mm512_add_epi64 (_mm512_mul_epi32 (_mm512_srli_epi64 (x, 32), v->mult_odd), half);

  return _mm512_mask_blend_epi32 (0xaaaa, _mm512_srli_epi64 (even, 31), _mm512_slli_epi64 (odd, 1));
}

/* Rescaled values, not yet clamped but for the float scheme, whose limits are low and high. */
INLINE __m512i
requant_lanes (int scheme, const RequantVec *v, __m512i x, __m512 low, __m512 high)
{
  if (scheme == LPT_REQUANT_FLOAT)
    {
      /* max and min give their second operand for a NaN, as the definition's comparisons do. */
      __m512 f = _mm512_mul_ps (_mm512_cvtepi32_ps (x), v->scale);

      return _mm512_cvtps_epi32 (_mm512_min_ps (_mm512_max_ps (f, low), high));
    }
  if (scheme == LPT_REQUANT_SINGLE)
    {
      __m512i even = _mm512_add_epi64 (_mm512_mul_epi32 (x, v->mult), v->a);
      __m512i odd = _mm512_add_epi64 (_mm512_mul_epi32 (_mm512_srli_epi64 (x, 32), v->mult_odd), v->b);

      /* The shift is 32 at least: what the lower words hold does not matter any more. */
      return _mm512_srav_epi32 (_mm512_mask_shuffle_epi32 (odd, 0x5555, even, _MM_PERM_DDBB), v->c);
    }

  if (scheme == REQUANT_SINGLE_HIGH)
    {
      __m512i even = _mm512_mul_epi32 (x, v->mult), odd = _mm512_mul_epi32 (_mm512_srli_epi64 (x, 32), v->mult_odd);
      __m512i upper = _mm512_mask_shuffle_epi32 (odd, 0x5555, even, _MM_PERM_DDBB);

      return _mm512_srav_epi32 (_mm512_add_epi32 (upper, v->a), v->b);
    }

  __m512i t = srdhm_vec (x, v), down = _mm512_srav_epi32 (t, v->a);
  const __m512i one = _mm512_set1_epi32 (1);

  if (scheme == LPT_REQUANT_TWO_STEP)
    return _mm512_add_epi32 (down, _mm512_and_si512 (_mm512_srlv_epi32 (_mm512_slli_epi32 (t, 1), v->a), one));

  __m512i rest = _mm512_and_si512 (t, v->b), threshold = _mm512_srli_epi32 (v->b, 1);

  if (scheme == LPT_REQUANT_DOUBLE)
    threshold = _mm512_sub_epi32 (threshold, _mm512_srai_epi32 (t, 31));
  else
    rest = _mm512_add_epi32 (rest, _mm512_srai_epi32 (x, 31));
  return _mm512_mask_add_epi32 (down, _mm512_cmpgt_epi32_mask (rest, threshold), down, one);
}

/* --- four registers of sums to sixty-four bytes --- */

/* Limits of codes in u8 form, which are turned back at the end: packing to bytes then saturates on both sides for
 * nothing. */
typedef struct {
  __m512i zp;                /* 16-bit lanes */
  __m512i low, high, flip;   /* bytes */
  __m512  fhigh;             /* hi - zp */
  bool    cut;               /* to less than all of u8, or of another form */
} PackLimits;

static inline PackLimits
pack_limits (int32_t zp, int32_t lo, int32_t hi)
{
  return (PackLimits) { _mm512_set1_epi16 ((int16_t) lpt_u8_form (lo, zp)), _mm512_set1_epi8 ((char) lpt_u8_form (lo, lo)),
                        _mm512_set1_epi8 ((char) lpt_u8_form (lo, hi)), _mm512_set1_epi8 ((char) lpt_u8_form (lo, 0)),
                        _mm512_set1_ps ((float) (hi - zp)), lo != 0 || hi != 255 };
}

/* Bytes of x0, x1, x2, x3 by quarters: the first four of each, the second four of each, and so on. `add_zp`, a
 * constant: the sums lack the zero point. */
INLINE __m512i
pack_quarters (const PackLimits *l, bool add_zp, __m512i x0, __m512i x1, __m512i x2, __m512i x3)
{
  __m512i low = _mm512_packs_epi32 (x0, x1), high = _mm512_packs_epi32 (x2, x3), x;

  if (add_zp)
    {
      low = _mm512_adds_epi16 (low, l->zp);
      high = _mm512_adds_epi16 (high, l->zp);
    }
  x = _mm512_packus_epi16 (low, high);
  /* One branch, always the same, instead of three operations on the ports of the products. */
  if (__builtin_expect (l->cut, 0))
    x = _mm512_xor_si512 (_mm512_min_epu8 (_mm512_max_epu8 (x, l->low), l->high), l->flip);
  return x;
}

/* Bytes by quarters to one register after the other. */
INLINE __m512i
in_order (__m512i bytes)
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);

  return _mm512_permutexvar_epi32 (order, bytes);
}

/* --- stages that kernels fuse --- */

/* Constants that select one. */
enum { STAGE_NONE, STAGE_ONE_FMA, STAGE_FMA, STAGE_FLOAT, STAGE_SINGLE, STAGE_WORDS };

#define STAGE_IS_FMA(stage) ((stage) == STAGE_ONE_FMA || (stage) == STAGE_FMA)

static inline int
stage_of (const LptEpilogue *e)
{
  if (!e->fusable)
    return STAGE_NONE;
  if (e->store != LPT_STORE_Q8)
    return STAGE_WORDS;
  return e->by_fma ? STAGE_FMA : e->scheme == LPT_REQUANT_FLOAT ? STAGE_FLOAT : STAGE_SINGLE;
}

/* The same of n channels from c on: STAGE_ONE_FMA where none of them has a lower part. */
static inline int
stage_of_channels (const LptEpilogue *e, size_t c, size_t n)
{
  int stage = stage_of (e);
  __mmask16 low = stage != STAGE_FMA;

  if (e->by_one_fma)
    return STAGE_ONE_FMA;
  for (size_t i = 0; i < n && !low; i += 16)
    low = _mm512_mask_cmp_ps_mask (n - i < 16 ? (__mmask16) ((1u << (n - i)) - 1) : 0xffff, _mm512_loadu_ps (e->fma.low + c + i),
                                   _mm512_setzero_ps (), _CMP_NEQ_UQ);
  return low ? stage : STAGE_ONE_FMA;
}

/* Whether the codes of a stage still lack the zero point. */
#define STAGE_LACKS_ZP(stage) ((stage) == STAGE_FLOAT)

/* What a stage reads of sixteen channels: bias and up to three parameters. */
typedef struct {
  __m512i bias, x[3];
} StageChannels;

INLINE StageChannels
stage_load (int stage, const LptEpilogue *e, size_t c)
{
  const __m512i none = _mm512_setzero_si512 ();
  StageChannels s = { e->bias ? _mm512_loadu_si512 (e->bias + c) : none, { none, none, none } };

  if (STAGE_IS_FMA (stage))
    {
      s.bias = _mm512_add_epi32 (s.bias, _mm512_loadu_si512 (e->fma.offset + c));
      s.x[0] = _mm512_loadu_si512 (e->fma.high + c);
      s.x[1] = _mm512_loadu_si512 (e->fma.low + c);
      s.x[2] = _mm512_loadu_si512 (e->fma.half + c);
    }
  else if (stage == STAGE_FLOAT)
    s.x[0] = _mm512_loadu_si512 (e->scale + c);
  else if (stage == STAGE_SINGLE)
    {
      s.x[0] = _mm512_loadu_si512 (e->mult + c);
      s.x[1] = _mm512_loadu_si512 (e->shift + c);
      s.x[2] = e->rest ? _mm512_loadu_si512 (e->rest + c) : none;
    }
  else if (stage == STAGE_WORDS && e->store == LPT_STORE_F32)
    {
      s.x[0] = _mm512_loadu_si512 (e->scale + c);
      s.x[1] = e->fbias ? _mm512_loadu_si512 (e->fbias + c) : none;
    }
  return s;
}

/* Only what the stage reads. */
INLINE void
stage_vec (int stage, const LptEpilogue *e, const StageChannels *s, RequantVec *to)
{
  if (STAGE_IS_FMA (stage))
    {
      to->scale = _mm512_castsi512_ps (s->x[0]);
      to->low = _mm512_castsi512_ps (s->x[1]);
      to->half = _mm512_castsi512_ps (s->x[2]);
    }
  else if (stage == STAGE_WORDS)
    {
      to->scale = _mm512_castsi512_ps (s->x[0]);
      to->low = _mm512_castsi512_ps (s->x[1]);
    }
  else if (stage == STAGE_FLOAT)
    to->scale = _mm512_castsi512_ps (s->x[0]);
  else
    {
      /* Rounds behind the zero point: it goes into the rounding term. */
      const __m512i zp = _mm512_set1_epi64 (lpt_u8_form (e->lo, e->zp)), half = _mm512_set1_epi64 (32);
      RequantVec v = requant_vec (LPT_REQUANT_SINGLE, s->x[0], s->x[1], _mm512_setzero_ps ());
      __m512i even = _mm512_and_si512 (v.c, _mm512_set1_epi64 (0xffffffff)), odd = _mm512_srli_epi64 (v.c, 32);

      v.a = _mm512_add_epi64 (v.a, _mm512_sllv_epi64 (zp, _mm512_add_epi64 (even, half)));
      v.b = _mm512_add_epi64 (v.b, _mm512_sllv_epi64 (zp, _mm512_add_epi64 (odd, half)));
      add_rests (&v, s->x[2]);
      *to = v;
    }
}

/* Codes of a stage, not yet limited. A float below the integers' range, or a NaN, converts to the lowest integer, which
 * the limits turn into lo; one above must be cut before, where multipliers may be large. */
LPT_TILE __m512i
stage_lanes (int stage, const RequantVec *v, const PackLimits *l, __m512i x)
{
  if (STAGE_IS_FMA (stage))
    {
      enum { DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC };
      __m512 f = _mm512_cvtepi32_ps (x), inner = stage == STAGE_FMA ? _mm512_fmadd_ps (f, v->low, v->half) : v->half;

      return _mm512_cvt_roundps_epi32 (_mm512_fmadd_round_ps (f, v->scale, inner, DOWN), DOWN);
    }
  if (stage == STAGE_FLOAT)
    return _mm512_cvtps_epi32 (_mm512_min_ps (_mm512_mul_ps (_mm512_cvtepi32_ps (x), v->scale), l->fhigh));
  return requant_lanes (LPT_REQUANT_SINGLE, v, x, l->fhigh, l->fhigh);
}

/* --- sums of two codes --- */

/* Single: S = m1*a + m2*b + bias + half is split into 2^16 * H + L with signed 16-bit factors, so that one dot product
 * of pairs gives each part (`wide`: two that of L) and floor (S / 2^shift) = (H + (L >> 16)) >> (shift - 16). */
typedef struct {
  __m512i    high, low, more, high_bias, low_bias, shift;
  bool       wide;
  __m512i    xor_a, xor_b;
  PackLimits limits;
} PairSum;

/* What the other forms need besides. */
typedef struct {
  RequantVec ra, rb, ro;
  __m512i    za, zb, left;
  __m512     sa, sb, sc, flow, fhigh;
} AddVec;

INLINE bool
step_fits (const LptAdd *p, int32_t mult, int shift)
{
  return mult != INT32_MIN && shift >= -31 && shift <= (p->step == LPT_REQUANT_SINGLE ? -1 : 0);
}

/* Whether the vector forms take these parameters. */
static inline bool
add_fits (const LptAdd *p)
{
  if (p->form == LPT_ADD_SINGLE)
    return lpt_add_fits_pairs (p);
  if (p->form == LPT_ADD_STEPPED)
    return (p->step == LPT_REQUANT_SINGLE || p->step == LPT_REQUANT_DOUBLE) && p->left <= 20
           && step_fits (p, p->m1, p->s1) && step_fits (p, p->m2, p->s2) && step_fits (p, p->mo, p->so);
  return true;
}

/* Single: m1 and m2 in their upper and lower halves; the other forms: what is common. */
INLINE PairSum
pair_sum (const LptAdd *p)
{
  PairSum s;
  int64_t bias = p->form == LPT_ADD_SINGLE ? p->bias + ((int64_t) 1 << (p->shift - 1)) : 0;
  LptAddParts m1 = lpt_add_parts (p->m1), m2 = lpt_add_parts (p->m2);

  s.high = _mm512_set1_epi32 (lpt_add_pair (m1.high, m2.high));
  s.low = _mm512_set1_epi32 (lpt_add_pair (m1.low, m2.low));
  s.more = _mm512_set1_epi32 (lpt_add_pair (m1.more, m2.more));
  s.wide = m1.more != 0 || m2.more != 0;
  s.high_bias = _mm512_set1_epi32 ((int32_t) (bias >> 16));
  s.low_bias = _mm512_set1_epi32 ((int32_t) (bias & 0xffff));
  s.shift = _mm512_set1_epi32 (p->shift - 16);
  s.xor_a = _mm512_set1_epi8 ((char) p->xor_a);
  s.xor_b = _mm512_set1_epi8 ((char) p->xor_b);
  s.limits = pack_limits (p->zp, p->lo, p->hi);
  return s;
}

static inline AddVec
add_vec (const LptAdd *p)
{
  AddVec v;
  LptRequantScheme step = p->form == LPT_ADD_STEPPED ? p->step : LPT_REQUANT_DOUBLE;
  __m512 none = _mm512_setzero_ps ();

  v.za = _mm512_set1_epi32 (p->za);
  v.zb = _mm512_set1_epi32 (p->zb);
  v.left = _mm512_set1_epi32 (p->left);
  if (step == LPT_REQUANT_SINGLE)
    {
      v.ra = requant_vec (LPT_REQUANT_SINGLE, _mm512_set1_epi32 (p->m1), _mm512_set1_epi32 (p->s1), none);
      v.rb = requant_vec (LPT_REQUANT_SINGLE, _mm512_set1_epi32 (p->m2), _mm512_set1_epi32 (p->s2), none);
      v.ro = requant_vec (LPT_REQUANT_SINGLE, _mm512_set1_epi32 (p->mo), _mm512_set1_epi32 (p->so), none);
    }
  else
    {
      v.ra = requant_vec (LPT_REQUANT_DOUBLE, _mm512_set1_epi32 (p->m1), _mm512_set1_epi32 (p->s1), none);
      v.rb = requant_vec (LPT_REQUANT_DOUBLE, _mm512_set1_epi32 (p->m2), _mm512_set1_epi32 (p->s2), none);
      v.ro = requant_vec (LPT_REQUANT_DOUBLE, _mm512_set1_epi32 (p->mo), _mm512_set1_epi32 (p->so), none);
    }
  v.sa = _mm512_set1_ps (p->sa);
  v.sb = _mm512_set1_ps (p->sb);
  v.sc = _mm512_set1_ps (p->sc);
  v.flow = _mm512_set1_ps ((float) (p->lo - p->zp));
  v.fhigh = _mm512_set1_ps ((float) (p->hi - p->zp));
  return v;
}

/* Sums of sixteen pairs; pairs holds a in the low and b in the high 16 bits of each lane. Not yet clamped
 * (float: clamped). Form and step are constants; v is not read for single sums. */
INLINE __m512i
add_lanes (LptAddForm form, LptRequantScheme step, const PairSum *s, const AddVec *v, __m512i pairs)
{
  if (form == LPT_ADD_SINGLE)
    {
      __m512i high = _mm512_dpwssd_epi32 (s->high_bias, pairs, s->high);
      __m512i low = _mm512_dpwssd_epi32 (s->low_bias, pairs, s->low);

      if (s->wide)
        low = _mm512_dpwssd_epi32 (low, pairs, s->more);
      return _mm512_srav_epi32 (_mm512_add_epi32 (high, _mm512_srai_epi32 (low, 16)), s->shift);
    }

  __m512i a = _mm512_sub_epi32 (_mm512_and_si512 (pairs, _mm512_set1_epi32 (0xffff)), v->za);
  __m512i b = _mm512_sub_epi32 (_mm512_srli_epi32 (pairs, 16), v->zb);
  const __m512 none = _mm512_setzero_ps ();

  if (form == LPT_ADD_STEPPED)
    {
      a = requant_lanes (step, &v->ra, _mm512_sllv_epi32 (a, v->left), none, none);
      b = requant_lanes (step, &v->rb, _mm512_sllv_epi32 (b, v->left), none, none);
      return requant_lanes (step, &v->ro, _mm512_add_epi32 (a, b), none, none);
    }

  __m512 fa = _mm512_mul_ps (_mm512_cvtepi32_ps (a), v->sa), fb = _mm512_mul_ps (_mm512_cvtepi32_ps (b), v->sb);
  __m512 f = _mm512_div_ps (_mm512_add_ps (fa, fb), v->sc);

  return _mm512_cvtps_epi32 (_mm512_min_ps (_mm512_max_ps (f, v->flow), v->fhigh));
}

/* The form as constants. */
INLINE __m512i
add_lanes_any (const LptAdd *p, const PairSum *s, const AddVec *v, __m512i pairs)
{
  if (p->form == LPT_ADD_SINGLE)
    return add_lanes (LPT_ADD_SINGLE, LPT_REQUANT_DOUBLE, s, v, pairs);
  if (p->form == LPT_ADD_FLOAT)
    return add_lanes (LPT_ADD_FLOAT, LPT_REQUANT_DOUBLE, s, v, pairs);
  if (p->step == LPT_REQUANT_SINGLE)
    return add_lanes (LPT_ADD_STEPPED, LPT_REQUANT_SINGLE, s, v, pairs);
  return add_lanes (LPT_ADD_STEPPED, LPT_REQUANT_DOUBLE, s, v, pairs);
}

/* Sums of 64 bytes each: interleaved to pairs of 16 bits; packing restores the order. */
INLINE __m512i
add_bytes (LptAddForm form, LptRequantScheme step, const PairSum *s, const AddVec *v, __m512i a, __m512i b)
{
  const __m512i none = _mm512_setzero_si512 ();
  __m512i x = _mm512_xor_si512 (a, s->xor_a), y = _mm512_xor_si512 (b, s->xor_b);
  __m512i low = _mm512_unpacklo_epi8 (x, y), high = _mm512_unpackhi_epi8 (x, y);

  return pack_quarters (&s->limits, true, add_lanes (form, step, s, v, _mm512_unpacklo_epi8 (low, none)),
                        add_lanes (form, step, s, v, _mm512_unpackhi_epi8 (low, none)),
                        add_lanes (form, step, s, v, _mm512_unpacklo_epi8 (high, none)),
                        add_lanes (form, step, s, v, _mm512_unpackhi_epi8 (high, none)));
}
