#include "engine/codec.hpp"

namespace backplane BACKPLANE_API {
namespace {

std::atomic<bool> cbor_offered{false};

}  // namespace

void offer_cbor() noexcept { cbor_offered.store(true, std::memory_order_relaxed); }

const std::vector<const Codec*>& codecs() {
  static const std::vector<const Codec*> by_default = {&json_codec(), &protobuf_codec()};
  static const std::vector<const Codec*> all = {&json_codec(), &protobuf_codec(), &cbor_codec()};
  return cbor_offered.load(std::memory_order_relaxed) ? all : by_default;
}

const Codec* find_codec(std::string_view name) noexcept {
  for (const Codec* codec : codecs()) {
    if (codec->name() == name) return codec;
  }
  return nullptr;
}

Codec::~Codec() = default;
ItemSink::~ItemSink() = default;

}  // namespace BACKPLANE_API
