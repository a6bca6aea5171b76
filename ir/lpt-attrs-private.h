/* lpt-attrs-private.h - the field tables of lpt-attrs.def
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_ATTRS_PRIVATE_H
#define LPT_ATTRS_PRIVATE_H

#include <lpt/lpt-op.h>

/* The shortest decimal text that reads back as the same double. */
void lpt_append_double (GString *text, double value);

#define LPT_ATTRS_BEGIN(Name) extern const LptAttrField lpt_attrs_##Name[];
#define LPT_FIELD(Name, KIND, c_name, name, since, until, flags, fallback)
#define LPT_ENUM(Name, c_name, name, names, since, until, flags, fallback)
#define LPT_ATTRS_END(Name)
#include <lpt/lpt-attrs.def>

#endif
