// A cache for OpenSSL's record buffers. An idle connection holds no buffers (SSL_MODE_RELEASE_BUFFERS), so each TLS record allocates and
// frees a buffer of about 16 KiB. The C library's allocator would walk and merge free lists for each of them.
//
// Thread-safety: each thread has its own cache.
// Lifetime:      the cache stays enabled until the process exits. The buffers of a thread are freed at the end of the thread.
#pragma once

#include <cstddef>

namespace backplane {

// Installs the cache as OpenSSL's memory functions. Must be called before the first use of OpenSSL; a later call has no effect and returns
// false.
bool keep_tls_buffers();

// Returns the number of buffers in the cache of the calling thread.
std::size_t kept_tls_buffers_for_test();

}  // namespace backplane
