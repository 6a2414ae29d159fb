#include "app/logs_handler.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "backplane/core/request.hpp"
#include "base/markup.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kPiece = 256 * 1024;

Task<void> answer(Exchange& exchange, int code, std::string text, std::string_view type = "text/plain; charset=utf-8") {
  exchange.set_response_header("X-Content-Type-Options", "nosniff");
  std::vector<SharedBytes> body;
  body.emplace_back(std::move(text));
  co_await exchange.respond(code, type, std::move(body));
}

bool has_parent_segment(std::string_view path) { return ("/" + std::string(path) + "/").find("/../") != std::string::npos; }

std::string url(std::string_view name) {
  constexpr std::string_view kPlain = "-_.~/$&+,:=@";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  // "./" keeps a colon in the name from being parsed as a URL's scheme.
  return out.find(':') < out.find('/') ? "./" + out : out;
}

// The file or folder, read on the blocking pool.
struct Found {
  enum Kind : unsigned char { kNothing, kForbidden, kFolder, kFile } kind = kNothing;
  std::string page;      // of a folder
  std::ifstream stream;  // of a file
  std::uintmax_t size = 0;
};

std::string folder_page(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    names.push_back(it->path().filename().string() + (it->is_directory(ignored) ? "/" : ""));
  }
  std::sort(names.begin(), names.end());
  std::string page = "<!doctype html>\n<meta name=\"viewport\" content=\"width=device-width\">\n<pre>\n";
  for (const auto& name : names) page += "<a href=\"" + url(name) + "\">" + escaped_markup(name, MarkupQuotes::kEscaped) + "</a>\n";
  return page + "</pre>\n";
}

void look(const std::string& path, Found& found) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool folder = fs::is_directory(status);
  // Other file types are not opened: opening a pipe would block until it has a writer.
  if (!folder && !fs::is_regular_file(status)) {
    found.kind = error == std::errc::permission_denied ? Found::kForbidden : Found::kNothing;
  } else if (access(path.c_str(), folder ? R_OK | X_OK : R_OK) != 0) {
    found.kind = errno == EACCES ? Found::kForbidden : Found::kNothing;
  } else if (folder) {
    found.kind = Found::kFolder;
    found.page = folder_page(path);
  } else {
    found.kind = Found::kFile;
    found.size = fs::file_size(path, error);
    found.stream.open(path, std::ios::binary);
  }
}

std::string read_piece(Found& found) {
  std::string piece(static_cast<std::size_t>(std::min<std::uintmax_t>(kPiece, found.size)), '\0');
  found.stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(std::max<std::streamsize>(found.stream.gcount(), 0)));
  found.size -= piece.size();
  return piece;
}

bool is_text(std::string_view piece) { return piece.substr(0, 512).find('\0') == std::string_view::npos; }

class Logs final : public HttpHandler {
 public:
  explicit Logs(std::string folder) : folder_(std::move(folder)) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override {
    constexpr std::string_view kRoot = "/logs";
    std::string path = context.info.path.substr(kRoot.size());
    if (exchange.method() != "GET" && exchange.method() != "HEAD") {
      exchange.set_response_header("Allow", "GET");
      co_await answer(exchange, 405, "405: Method Not Allowed");
      co_return;
    }
    if (has_parent_segment(path)) {
      co_await answer(exchange, 400, "invalid URL path\n");
      co_return;
    }
    if (folder_.size() + path.size() > kLongestName || path.find('\0') != std::string::npos) {
      co_await answer(exchange, 404, "file not found\n");
      co_return;
    }
    Found found;
    auto looking = run_blocking([this, &path, &found] { look(folder_ + path, found); });
    co_await std::move(looking);
    co_await show(exchange, path, found);
  }

 private:
  static Task<void> show(Exchange& exchange, const std::string& path, Found& found) {
    const bool slash = path.ends_with('/');
    if (found.kind == Found::kNothing || (found.kind == Found::kFile && slash)) {
      co_await answer(exchange, 404, "404 page not found\n");
    } else if (found.kind == Found::kForbidden) {
      co_await answer(exchange, 403, "403 Forbidden\n");
    } else if (found.kind == Found::kFile) {
      co_await send(exchange, found);
    } else if (!slash) {
      const auto last = path.rfind('/');
      exchange.set_response_header("Location", url(last == std::string::npos ? "logs/" : path.substr(last + 1) + "/"));
      co_await answer(exchange, 301, "");
    } else {
      co_await answer(exchange, 200, std::move(found.page), "text/html; charset=utf-8");
    }
  }

  // Sends as many bytes as the file had when it was opened: the response for a growing log would never end.
  static Task<void> send(Exchange& exchange, Found& found) {
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    while (true) {
      std::string piece;
      auto reading = run_blocking([&found, &piece] { piece = read_piece(found); });
      co_await std::move(reading);
      if (!exchange.started()) {
        Status started = co_await exchange.start(200, is_text(piece) ? "text/plain; charset=utf-8" : "application/octet-stream");
        if (!started.ok()) co_return;
      }
      if (piece.empty()) break;
      std::vector<SharedBytes> chunks;
      chunks.emplace_back(std::move(piece));
      Status written = co_await exchange.write(std::move(chunks));
      if (!written.ok()) co_return;
    }
    co_await exchange.finish();
  }

  std::string folder_;
};

}  // namespace

std::shared_ptr<HttpHandler> make_logs_handler(std::string folder) { return std::make_shared<Logs>(std::move(folder)); }

}  // namespace backplane
