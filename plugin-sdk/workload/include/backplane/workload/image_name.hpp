// Reads the parts of a container image's name on which defaults depend.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane::workload {

// Returns the tag of an image: "latest" if the name has neither a tag nor a digest, empty if it has only a digest, nullopt if it is
// malformed.
std::optional<std::string> image_tag(std::string_view image);

}  // namespace backplane::workload
