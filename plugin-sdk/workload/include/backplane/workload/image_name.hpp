// Names of container images, as far as defaults depend on them.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane::workload {

// The tag of an image: "latest" if it has neither tag nor digest, empty if it has only a digest, nullopt if the name is malformed.
std::optional<std::string> image_tag(std::string_view image);

}  // namespace backplane::workload
