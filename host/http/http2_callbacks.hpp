// nghttp2's callbacks, which call methods of Http2Session.
//
// Thread-safety: the table is immutable. nghttp2 runs the callbacks inside calls of the session.
#pragma once

#include <nghttp2/nghttp2.h>

namespace backplane {

const nghttp2_session_callbacks* http2_callbacks();

}  // namespace backplane
