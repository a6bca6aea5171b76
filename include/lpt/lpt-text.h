/* lpt-text.h - the text form of graphs (.lpt), printed and parsed back
 *
 *     graph "net" {lowered=true, requant="litert"}
 *     %x = Parameter : u8[1,3,8,8] q{scale=0.02, zp=128}
 *     %s = Const {2, 2} : i64[2]
 *     %p = MaxPool@1(%x #{precisions=1:u8|i8}) {kernel=[2,2], strides=[2,2]} #{relaxed} : u8[1,3,4,4]
 *     %h = Split(%p, %axis) {num_splits=3} : u8[1,1,4,4], u8[1,1,4,4], u8[1,1,4,4]
 *     %a = Add(%p as f32, %h.1 as f32) #{relaxed} after(%h) : f32[1,3,4,4] names{"sum"}
 *     Result(%a) {output="y"}
 *
 * One statement a line: name, op (@ opset where it is not the newest meaning),
 * inputs ("_" = not given, ".k" = output k of its producer, "as" = the type as
 * which a relaxed op sees it), attributes that are required or not the default,
 * marks, control dependencies, and the type of each output. Names with other
 * characters than letters, digits and _./+- are quoted: %"a b". Comments begin
 * with # and end with the line. Constants of more than 64 elements are base64.
 * Parameters come first, Results last, both in the model's order.
 *
 * Marks stand behind what they mark; equal numbers are one
 * shared value: #{precisions=1:u8|i8}, #{preserved=2:true, avg_pool=2},
 * #{interval=3:{low=0, high=2.55, ...}}, #{alignment=true},
 * #{granularity=per_tensor}; flags of nodes: relaxed, dequantization,
 * keep_const, no_cleanup, bias, decompression, lpt_made, raised; requant="mode".
 *
 * Bodies of TensorIterator, Loop and If follow in braces:
 *     %t = TensorIterator(%x, %h) : f32[1,10,8] {
 *       body {
 *         in 0 -> 0 axis=1
 *         in 1 -> 1
 *         out 0 <- 0 axis=1
 *         back 1 -> 1
 *         %xi = Parameter : f32[1,1,8]
 *         ...
 *         Result(%y)
 *       }
 *     }
 * in: input of the node -> parameter of the body; out: output <- result; back: result -> parameter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_TEXT_H
#define LPT_TEXT_H

#include <lpt/lpt-graph.h>

G_BEGIN_DECLS

/**
 * LptTextFlags:
 * @LPT_TEXT_ELIDE: long constants as {... 4096 values}: for people, does not parse
 * @LPT_TEXT_RT_INFO: with the strings of LptNode.rt_info and LptGraph.meta
 */
typedef enum
{
  LPT_TEXT_DEFAULT = 0,
  LPT_TEXT_ELIDE   = 1 << 0,
  LPT_TEXT_RT_INFO = 1 << 1,
} LptTextFlags;

/* Never fails, also on graphs that lpt_graph_validate() refuses (transfer full). */
LPT_EXPORT char     *lpt_graph_to_text   (LptGraph *graph, LptTextFlags flags);
/* One statement without line end, as it stands in lpt_graph_to_text() (transfer full). */
LPT_EXPORT char     *lpt_node_to_text    (LptNode *node, LptTextFlags flags);

/**
 * lpt_graph_from_text:
 * @len: bytes of @text, or -1 when it ends with a zero byte
 * @filename: (nullable): for messages and LptGraph.source
 * Types are inferred; where a statement says a type it must agree. Errors read
 * `FILE:LINE:COLUMN: what`, LPT_ERROR_INVALID or LPT_ERROR_UNSUPPORTED.
 * Returns: (transfer full): NULL on error
 */
LPT_EXPORT LptGraph *lpt_graph_from_text (const char *text, gssize len, const char *filename, GError **error);

/* Graphviz: one box per op, with its constants inside, coloured by element type (transfer full). */
LPT_EXPORT char     *lpt_graph_to_dot    (LptGraph *graph);

G_END_DECLS

#endif
