// PEM as kube-apiserver reads it: what stands around the blocks is passed over, a block that is broken is not there.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane::certificates {

struct PemBlock {
  std::string type;      // "CERTIFICATE"
  bool headers = false;  // it has some
  std::string bytes;     // DER
};

// The next block; `text` becomes what stands behind it.  Nothing when there is no more.
std::optional<PemBlock> next_pem_block(std::string_view& text);

}  // namespace backplane::certificates
