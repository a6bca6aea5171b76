/* lpt.h - the whole public interface
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#ifndef LPT_H
#define LPT_H

#include <lpt/lpt-version.h>
#include <lpt/lpt-types.h>
#include <lpt/lpt-limits.h>
#include <lpt/lpt-tensor.h>
#include <lpt/lpt-mark.h>
#include <lpt/lpt-attrs.h>
#include <lpt/lpt-op.h>
#include <lpt/lpt-graph.h>
#include <lpt/lpt-text.h>
#include <lpt/lpt-body.h>
#include <lpt/lpt-work.h>
#include <lpt/lpt-requant.h>
#include <lpt/lpt-restrictions.h>
#include <lpt/lpt-openvino.h>
#include <lpt/lpt-json.h>
#include <lpt/lpt-onnx.h>
#include <lpt/lpt-tflite.h>
#include <lpt/lpt-file.h>
#include <lpt/lpt-dequant.h>
#include <lpt/lpt-compare.h>
#include <lpt/lpt-debug.h>
#include <lpt/lpt-config.h>
#include <lpt/lpt-pass.h>
#include <lpt/lpt-explain.h>
#include <lpt/lpt-executor.h>
#include <lpt/lpt-cpu.h>
#include <lpt/lpt-npy.h>
#include <lpt/lpt-data.h>
#include <lpt/lpt-eval.h>
#include <lpt/lpt-quantize.h>
#include <lpt/lpt-page.h>
#include <lpt/lpt-pack.h>
#include <lpt/lpt-out-file.h>

#endif
