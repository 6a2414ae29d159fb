#include "profiling/heap_profile.hpp"

#include <malloc.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace backplane::profiling {
namespace {

// The number in the attribute `name` of the first element of `xml` that begins with `element`; 0 if there is none.
std::int64_t attribute_of(std::string_view xml, std::string_view element, std::string_view name) {
  const auto begin = xml.find(element);
  if (begin == std::string_view::npos) return 0;
  std::string_view tag = xml.substr(begin);
  tag = tag.substr(0, tag.find('>'));
  const std::string key = " " + std::string(name) + "=\"";
  const auto at = tag.find(key);
  if (at == std::string_view::npos) return 0;
  std::int64_t value = 0;
  std::from_chars(tag.data() + at + key.size(), tag.data() + tag.size(), value);
  return value;
}

ArenaUse arena_of(std::string_view xml) {
  ArenaUse out;
  out.name = "arena " + std::to_string(attribute_of(xml, "<heap", "nr"));
  out.system_bytes = attribute_of(xml, "<system type=\"current\"", "size");
  out.free_bytes = attribute_of(xml, "<total type=\"fast\"", "size") + attribute_of(xml, "<total type=\"rest\"", "size");
  return out;
}

}  // namespace

std::string malloc_report() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const stream = open_memstream(&text, &size);
  if (stream == nullptr) return {};
  malloc_info(0, stream);
  std::fclose(stream);
  std::string out(text, size);
  std::free(text);
  return out;
}

std::vector<ArenaUse> arenas_in(std::string_view report) {
  constexpr std::string_view kEnd = "</heap>";
  std::vector<ArenaUse> out;
  for (;;) {
    const auto begin = report.find("<heap "), end = report.find(kEnd);
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    out.push_back(arena_of(report.substr(begin, end - begin)));
    report.remove_prefix(end + kEnd.size());
  }
  const std::int64_t mapped = attribute_of(report, "<total type=\"mmap\"", "size");
  if (mapped > 0) out.push_back({"mmap", mapped, 0});
  return out;
}

Profile heap_profile(std::string_view report) {
  Profile out({{"system_space", "bytes"}, {"free_space", "bytes"}, {"inuse_space", "bytes"}});
  for (const ArenaUse& arena : arenas_in(report)) {
    out.add_names({arena.name, "malloc"}, {arena.system_bytes, arena.free_bytes, arena.used_bytes()});
  }
  out.set_comment("Bytes by arena of glibc's malloc, as malloc_info(3) reports them; allocations are not sampled.");
  return out;
}

}  // namespace backplane::profiling
