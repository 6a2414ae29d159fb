// The flags --emulated-version, --min-compatibility-version, --emulation-forward-compatible and
// --runtime-config-emulation-forward-compatible.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest with upstream's text.
// Source:        k8s.io/component-base/compatibility (toVersionMap, EffectiveVersion.Validate).
#pragma once

#include "app/options.hpp"
#include "routing/version.hpp"

namespace backplane {

struct Emulation {
  EffectiveVersion version;
  EmulatedApis apis;
};
// Reads the flags without checking that the releases can be emulated (check_emulation()). Errors: texts that are not releases, unknown
// components (other than "kube"), repeated components.
Result<Emulation> read_emulation(const FlagSet& flags);
// Problems: releases that cannot be emulated, and flags that need an emulated release.
void check_emulation(const Emulation& emulation, Problems& problems);

}  // namespace backplane
