# cmake -DINPUT=file -DOUTPUT=file.cpp -DSYMBOL=kName -DNAMESPACE=a::b -P EmbedText.cmake
#
# Makes a C++ source of a text file: `extern const std::string_view kName` holds its bytes. They are
# written as characters, because no compiler promises to take a literal as long as this.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REPLACE "'\\x0a'," "'\\x0a',\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include <string_view>

namespace ${NAMESPACE} {
namespace {
constexpr char kBytes[] = {
${bytes}'\\0'};
}  // namespace

extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}(kBytes, sizeof kBytes - 1);
}  // namespace ${NAMESPACE}
")
