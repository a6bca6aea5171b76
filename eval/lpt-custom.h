/* lpt-custom.h - ops of plug-ins
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include "eval/lpt-call.h"

/* Runs LptOpInfo.run on tensors of the arrays of a call; what it gives is held to the declared types and inferred
 * shapes. */
gboolean lpt_run_custom (LptCall *call, GError **error);
