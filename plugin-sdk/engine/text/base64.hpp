// Standard base64 with padding, as Go's encoding/base64 reads and writes it.
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace backplane::schema {

// Whether the text is the output of encode_base64 for its bytes.
bool is_canonical_base64(std::string_view text) noexcept;
std::string encode_base64(std::string_view bytes);
// Decodes into `out`, skipping line ends.  Returns the offset of the first wrong byte, as Go counts it; nullopt: the text is valid.
std::optional<std::size_t> decode_go_base64(std::string_view text, std::string& out);

}  // namespace backplane::schema
