// nghttp2's callbacks, bound to Http2Session.
//
// Thread-safety: the table is immutable; the callbacks run inside the session's own calls.
#pragma once

#include <nghttp2/nghttp2.h>

namespace backplane {

const nghttp2_session_callbacks* http2_callbacks();

}  // namespace backplane
