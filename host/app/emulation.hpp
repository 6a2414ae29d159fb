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
// The releases may lie outside of what is allowed.  Errors: texts that are no releases, of components other than "kube", or repeated.
Result<Emulation> read_emulation(const FlagSet& flags);
// Releases that cannot be emulated, and flags that need an emulated release.
void check_emulation(const Emulation& emulation, Problems& problems);

}  // namespace backplane
