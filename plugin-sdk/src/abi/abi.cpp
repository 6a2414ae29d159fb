#include "backplane/abi/abi.hpp"

namespace backplane::abi {

const bp_note_head& sdk_stamp() noexcept {
  static constexpr bp_note_head kStamp = note_head(0);
  return kStamp;
}

std::span<const PointHeader> sdk_points() noexcept { return kPointHeaders; }

}  // namespace backplane::abi
