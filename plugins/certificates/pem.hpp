// PEM as kube-apiserver reads it: text around blocks and malformed blocks are skipped.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane::certificates {

struct PemBlock {
  std::string type;      // "CERTIFICATE"
  bool headers = false;  // the block has headers
  std::string bytes;     // DER
};

// Removes the next block from `text` and returns it; nullopt if there is none.
std::optional<PemBlock> next_pem_block(std::string_view& text);

}  // namespace backplane::certificates
