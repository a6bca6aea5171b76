/* access.c - bytes that tasks touch, in the shapes that operands have
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "executor/operators/lpt-operators.h"

LptOpSpan
lpt_span (gsize from,
          gsize to,
          gsize element)
{
  return (LptOpSpan) { .from = from * element, .to = to * element };
}

LptOpSpan
lpt_span_columns (gsize m0,
                  gsize m1,
                  gsize n0,
                  gsize n1,
                  gsize pitch)
{
  return (LptOpSpan) { m0 * pitch + n0, m1 > m0 ? (m1 - 1) * pitch + n1 : m0 * pitch + n0, pitch, n0, n1 - n0 };
}

void
lpt_span_lines (const LptConvShape *s,
                gsize               first,
                gsize               last,
                gsize              *from,
                gsize              *to)
{
  gsize y0 = first % s->oh * s->stride_h, y1 = last % s->oh * s->stride_h + (s->kh - 1) * s->dilation_h + 1;

  *from = first / s->oh * s->ih + MIN (y0 - MIN (y0, s->pad_top), s->ih);
  *to = MAX (last / s->oh * s->ih + MIN (y1 - MIN (y1, s->pad_top), s->ih), *from);
}

LptOpSpan
lpt_span_planes (gsize pixels,
                 gsize planes,
                 gsize from,
                 gsize to,
                 gsize element)
{
  gsize image = from / pixels, size = planes * pixels * element, last = to > from ? (to - 1) / pixels : image;

  if (last > image)
    return (LptOpSpan) { .from = image * size, .to = (last + 1) * size };

  return (LptOpSpan) { image * size, (image + 1) * size, pixels * element, from % pixels * element, (to - from) * element };
}
