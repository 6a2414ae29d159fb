// A cache of OpenSSL's record buffers. An idle connection holds none (SSL_MODE_RELEASE_BUFFERS), so each record allocates and frees a
// buffer of some 16 KiB. In the C library's allocator each of these calls would walk and merge free lists.
//
// Thread-safety: each thread caches a few buffers.
// Lifetime:      the rest of the process; a thread's cache is freed with the thread.
#pragma once

#include <cstddef>

namespace backplane {

// Sets OpenSSL's memory functions. Call it before the first use of OpenSSL; afterwards it returns false and has no effect.
bool keep_tls_buffers();

// The number of buffers that the calling thread caches now.
std::size_t kept_tls_buffers_for_test();

}  // namespace backplane
