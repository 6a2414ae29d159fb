#include "engine/codec.hpp"

namespace backplane BACKPLANE_API {

const std::vector<const Codec*>& codecs(bool cbor) {
  static const std::vector<const Codec*> by_default = {&json_codec(), &protobuf_codec()};
  static const std::vector<const Codec*> all = {&json_codec(), &protobuf_codec(), &cbor_codec()};
  return cbor ? all : by_default;
}

const Codec* find_codec(std::string_view name) noexcept {
  for (const Codec* codec : codecs(true)) {
    if (codec->name() == name) return codec;
  }
  return nullptr;
}

Codec::~Codec() = default;
ItemSink::~ItemSink() = default;

}  // namespace BACKPLANE_API
