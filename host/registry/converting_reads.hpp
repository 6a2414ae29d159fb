// Wraps the list cursors and watch streams of the stored version, and converts each batch of their objects to a served version.
//
// Thread-safety: as the wrapped cursor or stream.
// Lifetime:      a wrapper owns the wrapped object and keeps the conversion alive.
// Errors:        those of the wrapped object, and of the converter.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "registry/conversion.hpp"

namespace backplane::registry {

std::unique_ptr<ObjectCursor> converting_cursor(std::unique_ptr<ObjectCursor> below, std::shared_ptr<const Conversion> conversion);
std::unique_ptr<WatchStream> converting_stream(std::unique_ptr<WatchStream> below, std::shared_ptr<const Conversion> conversion);

}  // namespace backplane::registry
