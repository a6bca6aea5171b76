/* lpt-restricted.h - does a node keep the restrictions of a configuration? One answer for passes, lowering and check
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_RESTRICTED_H
#define LPT_RESTRICTED_H

#include <lpt/lpt-pass.h>

/* What a node reads, or would read, on one port. */
typedef struct
{
  LptDType dtype;           /* UNDEFINED: nothing, a real value or a wide integer */
  gboolean per_channel;
} LptCode;

/* The code that @value is. */
LptCode   lpt_code_of               (const LptValue *value);
/* The type that codes of @dtype end as: targets with demands on quantization turn u8 into i8. */
LptDType  lpt_config_final_type     (const LptConfig *config, LptDType dtype);
/* The op cannot be an integer op: never, or a port takes no integer type. */
gboolean  lpt_restriction_is_never  (const LptRestriction *restriction);
/* Why @node is real where that is so (transfer full). */
char     *lpt_restriction_never_reason (const LptRestriction *restriction, const LptNode *node);
/* Restrictions hold in the passes before lowering, too. */
gboolean  lpt_config_is_strict      (const LptConfig *config);
/* Is @granularity about input @port? */
gboolean  lpt_granularity_is_about  (const LptGranularityRestriction *granularity, guint port);
/* Arithmetic of dequantization, which is no op of its own. */
gboolean  lpt_node_is_dequantization (const LptNode *node);

/* What is wrong with @node on @codes (@n_codes ports), for check and for people who ask why it is real (the restriction
 * is named); NULL: nothing (transfer full). */
char     *lpt_config_breach         (const LptConfig *config, LptNode *node, const LptCode *codes, guint n_codes);
/* The same of @node as it stands. */
char     *lpt_config_node_breach    (const LptConfig *config, LptNode *node);
/* Name of the disabled pass that is about @op alone, or NULL. */
const char *lpt_config_disabled_pass (const LptConfig *config, LptOp op);
/* Types that the restriction of @node leaves for @port; FALSE: it says nothing about it. */
gboolean  lpt_config_port_types     (const LptConfig *config, LptNode *node, guint port, LptTypeList *types);

/* Does the target have operators that take real data beside the codes of @node's weights, and round it by rows when it
 * is there, as TensorFlow Lite does? What restrictions say of data does not concern them, but for "never". */
gboolean lpt_config_takes_hybrid (const LptConfig *config, LptNode *node);

#endif
