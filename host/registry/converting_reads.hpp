// Lists and watches of a version that is not the stored one: batch by batch, each batch converted at once.
//
// Thread-safety: as the cursor and the stream below.
// Lifetime:      keep the conversion.
// Errors:        of the source, and of the converter.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "registry/conversion.hpp"

namespace backplane::registry {

std::unique_ptr<ObjectCursor> converting_cursor(std::unique_ptr<ObjectCursor> below, std::shared_ptr<const Conversion> conversion);
std::unique_ptr<WatchStream> converting_stream(std::unique_ptr<WatchStream> below, std::shared_ptr<const Conversion> conversion);

}  // namespace backplane::registry
