// PartialObjectMetadata: an object reduced to its metadata, cut out of the stored bytes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/object.hpp"

namespace backplane::endpoints {

// {"kind":"PartialObjectMetadata","apiVersion":VERSION,"metadata":{…}}.  `sorted_keys`: the object's keys are sorted (custom resources);
// the metadata is brought into the order of ObjectMeta.
void append_metadata_only(std::string& out, const ObjectEntry& entry, std::string_view version, bool sorted_keys);

}  // namespace backplane::endpoints
