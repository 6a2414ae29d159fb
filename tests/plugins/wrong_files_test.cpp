// Inspects files that are not plugins, or have malformed notes or wrong stamps. Each fault has a separate error code, and no code of the
// file runs.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "shared_object.hpp"

namespace backplane {
namespace {

class WrongFiles : public ::testing::Test {
 protected:
  std::vector<std::string> codes(const std::string& path) {
    std::vector<std::string> list;
    for (const auto& finding : inspect_plugin(path).findings) list.emplace_back(finding.code);
    return list;
  }
  std::vector<std::string> codes(const SharedObject& object) {
    object.write(dir_ / "x.so");
    return codes(dir_ / "x.so");
  }
  static std::vector<std::string> just(std::string_view code) { return {std::string(code)}; }

  TemporaryDirectory dir_;
};

TEST_F(WrongFiles, AGoodOneHasNoFindings) {
  EXPECT_TRUE(codes(SharedObject()).empty());
  const auto plugin = inspect_plugin(dir_ / "x.so");
  ASSERT_TRUE(plugin.descriptor);
  EXPECT_EQ(plugin.descriptor->name, "actor");
  EXPECT_EQ(plugin.descriptor->version.to_string(), "1.0.0");
}

TEST_F(WrongFiles, WhatIsNoRegularFileIsNotOpened) {
  ::mkfifo((dir_ / "fifo.so").c_str(), 0600);
  ::mkdir((dir_ / "directory.so").c_str(), 0700);
  ASSERT_EQ(::symlink("nowhere", (dir_ / "dangling.so").c_str()), 0);
  EXPECT_EQ(codes(dir_ / "fifo.so"), just(finding_code::kNotRegular));
  EXPECT_EQ(codes(dir_ / "directory.so"), just(finding_code::kDirectory));
  EXPECT_EQ(codes(dir_ / "dangling.so"), just(finding_code::kDanglingLink));
  EXPECT_EQ(codes(dir_ / "absent.so"), just(finding_code::kCannotOpen));
  EXPECT_EQ(codes("/dev/null"), just(finding_code::kNotRegular));
}

TEST_F(WrongFiles, ALinkToAGoodFileIsFollowed) {
  SharedObject().write(dir_ / "real.so");
  ASSERT_EQ(::symlink("real.so", (dir_ / "link.so").c_str()), 0);
  EXPECT_TRUE(codes(dir_ / "link.so").empty());
}

TEST_F(WrongFiles, AFileWithoutPermissionHasItsOwnCode) {
  SharedObject().write(dir_ / "x.so");
  ::chmod((dir_ / "x.so").c_str(), 0);
  ::chmod(dir_.path().c_str(), 0755);
  const auto before = ::setfsuid(65534);  // root may read every file; this thread drops that capability temporarily
  const auto found = codes(dir_ / "x.so");
  ::setfsuid(static_cast<uid_t>(before));
  EXPECT_EQ(found, just(finding_code::kNotReadable));
}

TEST_F(WrongFiles, TextAndEmptyFilesAreNotElf) {
  std::ofstream(dir_ / "text.so") << "#!/bin/sh\necho hello\n";
  std::ofstream(dir_ / "empty.so").flush();
  EXPECT_EQ(codes(dir_ / "text.so"), just(finding_code::kNotElf));
  EXPECT_EQ(codes(dir_ / "empty.so"), just(finding_code::kNotElf));
}

TEST_F(WrongFiles, EveryTruncationIsNoticedBeforeAnythingIsMapped) {
  const SharedObject whole;
  for (const std::size_t size : {5UL, 40UL, 64UL, 100UL, 600UL, whole.bytes.size() / 4, whole.bytes.size() / 2, whole.bytes.size() - 1}) {
    SharedObject cut;
    cut.bytes.resize(size);
    const auto found = codes(cut);
    ASSERT_FALSE(found.empty()) << size;
    EXPECT_EQ(found.front(), finding_code::kTruncated) << size;
  }
}

TEST_F(WrongFiles, AnotherMachineAndAnotherKindOfFileHaveTheirOwnCodes) {
  Elf64_Ehdr header;
  std::memcpy(&header, SharedObject().bytes.data(), sizeof(header));
  const Elf64_Half other = header.e_machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
  EXPECT_EQ(codes(SharedObject().poke(offsetof(Elf64_Ehdr, e_machine), other)), just(finding_code::kOtherMachine));
  EXPECT_EQ(codes(SharedObject().poke(EI_CLASS, static_cast<char>(ELFCLASS32))), just(finding_code::kOtherMachine));
  EXPECT_EQ(codes(SharedObject().poke(offsetof(Elf64_Ehdr, e_type), static_cast<Elf64_Half>(ET_EXEC))),
            just(finding_code::kNotSharedObject));
}

TEST_F(WrongFiles, MissingAndCorruptNotesHaveDifferentCodes) {
  SharedObject plain;
  EXPECT_EQ(codes(SharedObject().replace(std::string("Backplane\0\0\0", 12), std::string("Backplant\0\0\0", 12))),
            just(finding_code::kNoNote));
  const auto note = plain.note_offset();
  EXPECT_EQ(codes(SharedObject().poke(note + 4, 0x7fffffffU)), just(finding_code::kCorruptNote));
  EXPECT_EQ(codes(SharedObject().poke(note, 0xfffffff0U)), just(finding_code::kCorruptNote));
  EXPECT_EQ(codes(SharedObject().poke(note + 4, 60U))[0], finding_code::kCorruptNote);
  EXPECT_EQ(codes(SharedObject().head([](bp_note_head& h) { h.json_size = 1U << 30; })), just(finding_code::kCorruptNote));
  EXPECT_EQ(codes(SharedObject().head([](bp_note_head& h) { h.head_size = 12; })), just(finding_code::kCorruptNote));
  EXPECT_EQ(codes(SharedObject().head([](bp_note_head& h) { h.magic[0] = 'X'; })), just(finding_code::kUnknownHead));
  EXPECT_EQ(codes(SharedObject().head([](bp_note_head& h) { h.head_version = 9; })), just(finding_code::kUnknownHead));
}

TEST_F(WrongFiles, ManifestsThatCannotBeUsed) {
  EXPECT_EQ(codes(SharedObject().manifest("{{{")), just(finding_code::kBadJson));
  EXPECT_EQ(codes(SharedObject().manifest(R"({"version":"1.0.0"})")), just(finding_code::kBadMember));
  EXPECT_EQ(codes(SharedObject().manifest(manifest_of("a", {}, "one"))), just(finding_code::kBadVersion));
  EXPECT_EQ(codes(SharedObject().manifest(manifest_of("../a"))), just(finding_code::kBadName));
  EXPECT_EQ(codes(SharedObject().manifest(manifest_of("a", R"("requires":[{"name":"b","version":"newest"}])"))),
            just(finding_code::kBadRange));
  EXPECT_EQ(codes(SharedObject().manifest(manifest_of("a", R"("colour":1)"))), just(finding_code::kUnknownMember));
}

TEST_F(WrongFiles, EachFieldOfTheStampHasItsCode) {
  const std::vector<std::pair<std::string_view, std::function<void(bp_note_head&)>>> rows{
      {finding_code::kSdkVersion, [](bp_note_head& h) { h.sdk_version += 0x100; }},
      {finding_code::kEntryAbi, [](bp_note_head& h) { h.entry_abi = 7; }},
      {finding_code::kCompilerAbi, [](bp_note_head& h) { h.gxx_abi = 1; }},
      {finding_code::kStandardLibrary, [](bp_note_head& h) { h.stdlib = BP_STDLIB_LIBCXX; }},
      {finding_code::kStringAbi, [](bp_note_head& h) { h.stdlib_flags ^= BP_STDLIB_CXX11_ABI; }},
      {finding_code::kDebugMode, [](bp_note_head& h) { h.stdlib_flags ^= BP_STDLIB_DEBUG; }},
      {finding_code::kBoostVersion, [](bp_note_head& h) { h.boost_version = 108600; }},
      {finding_code::kLanguage, [](bp_note_head& h) { h.language ^= BP_LANGUAGE_RTTI; }},
      {finding_code::kSanitizers, [](bp_note_head& h) { h.sanitizers ^= BP_SANITIZE_MEMORY; }},
      {finding_code::kPointerSize, [](bp_note_head& h) { h.pointer_bits = 32; }},
      {finding_code::kLayout, [](bp_note_head& h) { h.layout_fingerprint ^= 1; }},
      {finding_code::kVendorTag, [](bp_note_head& h) { h.vendor[0] = 'X'; }},
      {finding_code::kContract, [](bp_note_head& h) { h.contracts[0] ^= 1; }},
      {finding_code::kContract, [](bp_note_head& h) { h.contracts[3] = 1; }}};
  for (const auto& [code, change] : rows) EXPECT_EQ(codes(SharedObject().head(change)), just(code));
}

TEST_F(WrongFiles, AMissingEntryPointIsSeenWithoutLoading) {
  EXPECT_EQ(codes(SharedObject().replace("backplane_plugin_create", "backplane_plugin_creatf")), just(finding_code::kNoEntry));
}

TEST_F(WrongFiles, InspectionMapsNothing) {
  SharedObject().write(dir_ / "x.so");
  ASSERT_TRUE(inspect_plugin(dir_ / "x.so").descriptor);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find(dir_.path()), std::string::npos) << line;
}

// The range [begin, begin + size) of a file.
struct Range {
  std::size_t begin, size;
};

// The ranges that inspection reads: the header, the program headers, the note, the section headers, the dynamic symbols and their names.
std::vector<Range> inspected_ranges(const SharedObject& object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.bytes.data(), sizeof(header));
  std::vector<Range> ranges{{0, sizeof(header)},
                            {header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)},
                            {object.note_offset(), 24 + sizeof(bp_note_head) + 600},
                            {header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)}};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const auto& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    ranges.push_back({section.sh_offset, section.sh_size});
    ranges.push_back({sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size});
  }
  return ranges;
}

TEST_F(WrongFiles, RandomChangesNeverDoMoreThanGiveFindings) {
  const SharedObject whole;
  const auto ranges = inspected_ranges(whole);
  ASSERT_EQ(ranges.size(), 6u);
  std::mt19937 random(20);
  for (int round = 0; round < 600; ++round) {
    SharedObject object = whole;
    for (int change = 0; change < 4; ++change) {
      const auto& range = ranges[random() % ranges.size()];
      object.bytes[range.begin + random() % range.size] = static_cast<char>(random());
    }
    if (random() % 8 == 0) object.bytes.resize(random() % object.bytes.size());
    object.write(dir_ / "x.so");
    const auto plugin = inspect_plugin(dir_ / "x.so");
    for (const auto& finding : plugin.findings) EXPECT_EQ(finding.code.substr(0, 4), "PLG-");
  }
}

TEST_F(WrongFiles, ExtremeNumbersInHeadersNeverDoMoreThanGiveFindings) {
  const SharedObject whole;
  Elf64_Ehdr header;
  std::memcpy(&header, whole.bytes.data(), sizeof(header));
  const std::uint64_t extremes[] = {0, 1, whole.bytes.size(), whole.bytes.size() - 1, 0x7fffffffffffffff, 0xffffffffffffffff};
  std::vector<std::size_t> fields{offsetof(Elf64_Ehdr, e_phoff), offsetof(Elf64_Ehdr, e_shoff), offsetof(Elf64_Ehdr, e_flags)};
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const auto at = header.e_phoff + i * sizeof(Elf64_Phdr);
    fields.insert(fields.end(),
                  {at + offsetof(Elf64_Phdr, p_offset), at + offsetof(Elf64_Phdr, p_filesz), at + offsetof(Elf64_Phdr, p_align)});
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto at = header.e_shoff + i * sizeof(Elf64_Shdr);
    fields.insert(fields.end(),
                  {at + offsetof(Elf64_Shdr, sh_offset), at + offsetof(Elf64_Shdr, sh_size), at + offsetof(Elf64_Shdr, sh_link)});
  }
  for (const auto field : fields) {
    for (const auto value : extremes) {
      for (const auto& finding : (SharedObject(whole).poke(field, value).write(dir_ / "x.so"), inspect_plugin(dir_ / "x.so").findings)) {
        EXPECT_EQ(finding.code.substr(0, 4), "PLG-") << field;
      }
    }
  }
}

// ---- directories

TEST_F(WrongFiles, AFileThatIsFoundTwiceIsInspectedOnce) {
  ::mkdir((dir_ / "a").c_str(), 0700);
  ::mkdir((dir_ / "b").c_str(), 0700);
  SharedObject().write(dir_ / "a/x.so");
  ASSERT_EQ(::symlink("x.so", (dir_ / "a/y.so").c_str()), 0);
  ASSERT_EQ(::symlink("../a/x.so", (dir_ / "b/x.so").c_str()), 0);
  ASSERT_EQ(::link((dir_ / "a/x.so").c_str(), (dir_ / "b/z.so").c_str()), 0);
  ASSERT_EQ(::symlink("nowhere", (dir_ / "b/dangling.so").c_str()), 0);
  Findings findings;
  const auto plugins = inspect_directories({dir_ / "a", dir_ / "b", dir_ / "a/", dir_ / "b/../a"}, findings);
  EXPECT_TRUE(findings.empty());
  ASSERT_EQ(plugins.size(), 2u);
  EXPECT_EQ(plugins[0].path, dir_ / "a/x.so");
  EXPECT_EQ(plugins[1].findings.at(0).code, finding_code::kDanglingLink);
}

TEST_F(WrongFiles, ADirectoryThatIsMissingOrCannotBeReadIsAWarningThatNamesIt) {
  const auto warning = [](const std::string& directory) {
    Findings findings;
    EXPECT_TRUE(inspect_directories({directory}, findings).empty());
    EXPECT_EQ(findings.size(), 1u);
    if (findings.empty()) return Finding();
    EXPECT_EQ(findings[0].code, finding_code::kCannotReadDirectory);
    EXPECT_EQ(findings[0].severity, Severity::kWarning);
    EXPECT_EQ(findings[0].found, directory);
    return findings[0];
  };
  EXPECT_EQ(warning(dir_ / "absent").message, "the plugin directory does not exist");
  std::ofstream(dir_ / "file") << "x";
  EXPECT_NE(warning(dir_ / "file").message.find("Not a directory"), std::string::npos);
  ::mkdir((dir_ / "closed").c_str(), 0);
  ::chmod(dir_.path().c_str(), 0755);
  const auto before = ::setfsuid(65534);
  const auto closed = warning(dir_ / "closed");
  ::setfsuid(static_cast<uid_t>(before));
  EXPECT_NE(closed.message.find("Permission denied"), std::string::npos);
}

}  // namespace
}  // namespace backplane
