#include "backplane/kit/certificate_subject.hpp"

#include <gtest/gtest.h>
#include <openssl/x509.h>

#include <memory>

namespace backplane::kit {
namespace {

struct CertificateSubjectTest : ::testing::Test {
  void add(const char* field, int type, std::string_view bytes) {
    ASSERT_EQ(X509_NAME_add_entry_by_txt(name.get(), field, MBSTRING_ASC, reinterpret_cast<const unsigned char*>("x"), 1, -1, 0), 1);
    X509_NAME_ENTRY* entry = X509_NAME_get_entry(name.get(), X509_NAME_entry_count(name.get()) - 1);
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    ASSERT_EQ(X509_NAME_ENTRY_set_data(entry, type, data, static_cast<int>(bytes.size())), 1);
  }
  std::string problem() {
    auto read = read_certificate_subject(name.get());
    return read.ok() ? "" : read.status().message();
  }
  std::unique_ptr<X509_NAME, decltype(&X509_NAME_free)> name{X509_NAME_new(), &X509_NAME_free};
};

TEST_F(CertificateSubjectTest, TextsOfAllTypesAreRead) {
  add("O", V_ASN1_UTF8STRING, "ö");
  add("O", V_ASN1_PRINTABLESTRING, "a b&*");
  add("O", V_ASN1_BMPSTRING, std::string_view("\0a\x20\xAC\0\0", 6));
  add("O", V_ASN1_BIT_STRING, "no text");
  add("OU", V_ASN1_UTF8STRING, "other");
  add("CN", V_ASN1_IA5STRING, "first@x");
  add("CN", V_ASN1_T61STRING, "last\xF6");
  const auto subject = read_certificate_subject(name.get());
  ASSERT_TRUE(subject.ok()) << subject.status().message();
  EXPECT_EQ(subject->organizations, (std::vector<std::string>{"ö", "a b&*", "a€"}));
  EXPECT_EQ(subject->common_name, "last\xF6");
}

TEST_F(CertificateSubjectTest, CharactersThatATypeDoesNotHaveAreErrors) {
  struct Row {
    int type;
    std::string_view bytes, problem;
  };
  constexpr std::string_view kSyntax = "asn1: syntax error: ";
  for (const Row& row : {Row{V_ASN1_PRINTABLESTRING, "a@b", "PrintableString contains invalid character"},
                         Row{V_ASN1_NUMERICSTRING, "1a", "NumericString contains invalid character"},
                         Row{V_ASN1_IA5STRING, "\x80", "IA5String contains invalid character"}}) {
    name.reset(X509_NAME_new());
    add("OU", row.type, row.bytes);
    EXPECT_EQ(problem(), std::string(kSyntax) + std::string(row.problem));
  }
  for (const std::string_view bytes : {std::string_view("\xD8\0", 2), std::string_view("\xFF\xFE"), std::string_view("a")}) {
    name.reset(X509_NAME_new());
    add("CN", V_ASN1_BMPSTRING, bytes);
    EXPECT_EQ(problem(), "invalid BMPString");
  }
  name.reset(X509_NAME_new());
  add("CN", V_ASN1_UTF8STRING, "\xC0\x80");
  EXPECT_EQ(problem(), "asn1: invalid UTF-8 string");
}

}  // namespace
}  // namespace backplane::kit
