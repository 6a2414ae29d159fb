#include "streams/spdy_headers.hpp"

#include <zlib.h>

#include "streams/big_endian.hpp"

namespace backplane::core::spdy {
namespace {

// The texts of the dictionary. In the dictionary each text follows its length.
constexpr std::string_view kWords[] = {"options",
                                       "head",
                                       "post",
                                       "put",
                                       "delete",
                                       "trace",
                                       "accept",
                                       "accept-charset",
                                       "accept-encoding",
                                       "accept-language",
                                       "accept-ranges",
                                       "age",
                                       "allow",
                                       "authorization",
                                       "cache-control",
                                       "connection",
                                       "content-base",
                                       "content-encoding",
                                       "content-language",
                                       "content-length",
                                       "content-location",
                                       "content-md5",
                                       "content-range",
                                       "content-type",
                                       "date",
                                       "etag",
                                       "expect",
                                       "expires",
                                       "from",
                                       "host",
                                       "if-match",
                                       "if-modified-since",
                                       "if-none-match",
                                       "if-range",
                                       "if-unmodified-since",
                                       "last-modified",
                                       "location",
                                       "max-forwards",
                                       "pragma",
                                       "proxy-authenticate",
                                       "proxy-authorization",
                                       "range",
                                       "referer",
                                       "retry-after",
                                       "server",
                                       "te",
                                       "trailer",
                                       "transfer-encoding",
                                       "upgrade",
                                       "user-agent",
                                       "vary",
                                       "via",
                                       "warning",
                                       "www-authenticate",
                                       "method",
                                       "get",
                                       "status",
                                       "200 OK",
                                       "version",
                                       "HTTP/1.1",
                                       "url",
                                       "public",
                                       "set-cookie",
                                       "keep-alive",
                                       "origin"};
constexpr std::string_view kRest =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative Information"
    "204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error"
    "501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, "
    "Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

std::string make_dictionary() {
  std::string out;
  for (const std::string_view word : kWords) append_sized(out, word);
  return out.append(kRest);
}

}  // namespace

const std::string& dictionary() {
  static const std::string text = make_dictionary();
  return text;
}

struct HeaderWriter::Stream {
  z_stream z{};
  bool good = false;
};

HeaderWriter::HeaderWriter() : stream_(std::make_unique<Stream>()) {
  const std::string& words = dictionary();
  stream_->good = deflateInit(&stream_->z, Z_DEFAULT_COMPRESSION) == Z_OK &&
                  deflateSetDictionary(&stream_->z, reinterpret_cast<const Bytef*>(words.data()), static_cast<uInt>(words.size())) == Z_OK;
}

HeaderWriter::~HeaderWriter() { deflateEnd(&stream_->z); }

std::string HeaderWriter::block(const std::vector<std::pair<std::string_view, std::string_view>>& headers) {
  if (!stream_->good) return {};
  std::string plain;
  append_number(plain, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    append_sized(plain, name);
    append_sized(plain, value);
  }
  z_stream& z = stream_->z;
  std::string out(deflateBound(&z, plain.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(plain.data());
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  stream_->good = deflate(&z, Z_SYNC_FLUSH) == Z_OK && z.avail_in == 0;
  out.resize(stream_->good ? out.size() - z.avail_out : 0);
  return out;
}

}  // namespace backplane::core::spdy
