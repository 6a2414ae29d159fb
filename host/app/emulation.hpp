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
// Reads the flags. Only check_emulation() checks that the releases can be emulated.
// Errors: texts that are not releases, components other than "kube", repeated components.
Result<Emulation> read_emulation(const FlagSet& flags);
// Adds a problem for each release that cannot be emulated, and for each flag that is set although no other release is emulated.
void check_emulation(const Emulation& emulation, Problems& problems);

}  // namespace backplane
