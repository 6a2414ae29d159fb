// Writes a response body that is produced piece by piece. A small body is sent as one response with its length. A large body is sent in
// chunks; flush() waits if the client reads slowly.
//
// Thread-safety: one writer for each response, on the executor of the response.
// Errors:        write errors of the exchange, i.e. the client has disconnected. The caller must then stop.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/http.hpp"
#include "endpoints/json_indent.hpp"
#include "engine/codec.hpp"

namespace backplane::endpoints {

class BodyWriter final : public ItemSink {
 public:
  // `content_type` must outlive the writer. `pretty`: the appended text is compact JSON, and the writer indents it.
  BodyWriter(Exchange& exchange, int code, std::string_view content_type, bool pretty);

  // True if the caller should call flush().
  bool full() const noexcept { return pending_ + text_.size() >= kChunkBytes; }
  Task<Status> flush();
  // Sends the remaining bytes and ends the response.
  Task<Status> finish();

  // Responses up to this size are sent in one piece.
  static constexpr std::size_t kChunkBytes = 128 * 1024;

 private:
  void share(SharedBytes bytes) override;
  void seal();

  Exchange& exchange_;
  const int code_;
  const std::string_view content_type_;
  std::optional<JsonIndenter> indenter_;
  std::vector<SharedBytes> pieces_;
  std::size_t pending_ = 0;  // bytes in pieces_
};

}  // namespace backplane::endpoints
