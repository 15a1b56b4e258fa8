"""Which words assert what: JUnit, TestNG, kotlin.test, AssertJ, Truth, assertk, Hamcrest, kotest, Mockito, MockK."""

import re

EQUAL = frozenset(
    {"assertEquals", "assertArrayEquals", "assertIterableEquals", "assertLinesMatch", "assertContentEquals"}
    | {"assertSame", "assertEqualsDeep", "assertReflectionEquals"}
)
UNEQUAL = frozenset({"assertNotEquals", "assertNotSame", "assertArrayNotEquals", "assertContentNotEquals"})
TRUE = frozenset({"assertTrue", "assert", "check", "require", "assertThat"})
FALSE = frozenset({"assertFalse"})
OF_TYPE = frozenset({"assertInstanceOf", "assertIs", "assertIsNot"})
THROWS = frozenset(
    {"assertThrows", "assertThrowsExactly", "assertFailsWith", "assertFails", "expectThrows", "expectCatching"}
    | {"shouldThrow", "shouldThrowExactly", "shouldThrowAny", "shouldThrowUnit", "shouldThrowWithMessage"}
    | {"shouldThrowMessage", "shouldFail", "shouldFailWithMessage", "assertThatThrownBy", "assertThatExceptionOfType"}
    | {"shouldThrowExactlyUnit", "shouldThrowAnyUnit", "assertFailsWithMessage", "assertFailure"}
)
HARMLESS = frozenset(
    {"assertDoesNotThrow", "shouldNotThrow", "shouldNotThrowAny", "shouldNotThrowExactly", "assertThatNoException"}
    | {"assertTimeout", "assertTimeoutPreemptively", "assertThatCode", "shouldNotThrowAnyUnit", "shouldNotThrowUnit"}
    | {"shouldCompleteWithin", "assertCompletes"}
)
TOGETHER = frozenset(
    {"assertAll", "assertSoftly", "assertMultiple", "assertAny", "assertSome", "withClue", "asClue", "all"}
    | {"assertWithClue", "withAssertion", "softly", "verifySoftly"}
)
"""They assert nothing by themselves; what is handed to them does."""
OPENERS = frozenset(
    {"assertThat", "that", "expectThat", "assertThatThrownBy", "assertThatCode", "assertThatObject"}
    | {"assertThatException", "assertThatExceptionOfType", "assertThatNoException", "assertThatList"}
    | {"assertThatIllegalArgumentException", "assertThatIllegalStateException", "assertThatNullPointerException"}
    | {"assertThatIOException", "assertThatRuntimeException", "assertThatCollection", "assertThatIterable"}
    | {"assertThatPath", "assertThatStream", "assertThatComparable", "assertThatReflectiveOperationException"}
    | {"assertThatIndexOutOfBoundsException", "assertFailure", "expectCatching", "assertThatJson", "assertThatXml"}
)
FAILS = frozenset({"fail", "failWithMessage", "failNotEquals", "failBecauseExceptionWasNotThrown", "failure"})
FAILED = re.compile(r"(?:\w+\.)*(?:AssertionError|AssertionFailedError|ComparisonFailure|MultipleFailuresError)")
SKIPPED = re.compile(r"(?:\w+\.)*(?:SkipException|TestAbortedException|Assumption(?:Violated|Failed)Exception)")
BROAD = frozenset({"Throwable", "Exception", "RuntimeException", "Error"})
CATCHES_FAIL = frozenset({"Throwable", "Error", "AssertionError", "AssertionFailedError"})
HIDES = re.compile(r"\b(?:Throwable|Error|AssertionError|AssertionFailedError|Exception|RuntimeException)\b")
CATCHES_ASSERTIONS = CATCHES_FAIL | {"ComparisonFailure", "Exception", "RuntimeException"}

KNOWN = EQUAL | UNEQUAL | TRUE | FALSE | OF_TYPE | THROWS | HARMLESS | TOGETHER | OPENERS | FAILS
KNOWN |= {"assertNull", "assertNotNull"}

HELPER = re.compile(
    r"(?:assert|check|verify|expect|should|ensure|validate)(?:[A-Z0-9_].*)?|\w*?(?:Assert|Verify|Check|Expect)(?:[A-Z0-9_]\w*)?"
    r"|andExpect\w*|\w+_(?:assert|check|verify|expect)\w*"
)
"""What says that it checks something, and is known no further."""

NAVIGATES = re.compile(
    r"as|describedAs|withFailMessage|overridingErrorMessage|withMessage|withRepresentation|using\w*|extracting\w*"
    r"|flatExtracting|first|last|element|elements|singleElement|filteredOn\w*|filteredOnNull|map|flatMap|size|returnToIterable"
    r"|asString|asList|asInstanceOf|asInt|asLong|asDouble|asByte|asShort|asFloat|asBase64\w*|get|cause|rootCause|getCause"
    r"|getRootCause|message|hasMessageThat|hasCauseThat|that|inOrder|ignoring\w*|bytes|named|prop|key|index|single"
    r"|comparingElementsUsing|formattingDiffsUsing|withClassName|and|succeedsWithin|failsWithin|havingCause|havingRootCause"
    r"|chars|codePoints|actual|getActual|not|isA|inBinary|inHexadecimal|inUnicode|zipSatisfy|about|given|transform|also"
    r"|displaysAs|withAssertionState|suppressWarnings|toIterable|withThreadDumpOnError"
)
"""Links of a chain that choose what is looked at, and assert nothing."""

EXACT = re.compile(
    r"isEqualTo|isSameAs|isSameInstanceAs|isSameInstance|containsExactly\w*|containsOnlyOnceElementsOf|hasToString|isEqualByComparingTo"
    r"|isZero|isOne|isNull|isEmpty|isBlank|hasMessage|returns|isEmptyString|isNullOrEmpty|hasSameElementsAs|isDataClassEqualTo"
    r"|isEqualByComparingFieldByField\w*|hasValue|containsEntryExactly|isNullOrBlank|isEquivalentAccordingToCompareTo|isSuccess"
    r"|containsOnly|hasSameContentAs|hasContent|hasBinaryContent|hasNoMoreRows|isExactlyInstanceOf|isThrownBy|isNaN"
    r"|shouldBe|shouldBeExactly|shouldBeSameInstanceAs|shouldContainExactly\w*|shouldBeEqual\w*|shouldBeNull|shouldBeEmpty"
    r"|shouldEqual|shouldBeEqualTo|shouldEqualJson|shouldHaveMessage|shouldMatchJson|shouldBeZero|shouldBeBlank|shouldMatchSnapshot"
    r"|matchesSnapshot|equalTo|sameInstance|theInstance|contains|arrayContaining\w*|containsInAnyOrder|nullValue|empty|emptyString"
    r"|emptyIterable|anEmptyMap|is|isArray|isObject|assertMatchesSnapshot"
)
"""`contains` and `is` are exact as matchers of Hamcrest only."""
WEAK = re.compile(
    r"isNotNull|isNotEmpty|isNotBlank|isPresent|isInstanceOf\w*|isOfAnyClassIn|isNotNullOrEmpty|exists|isDefined|isSuccessful"
    r"|hasNoNullFieldsOrProperties|doesNotThrowAnyException|isNotNaN|isNotZero|isNotInstanceOf|isNotSameAs|isNotSameInstanceAs"
    r"|shouldNotBeNull|shouldBeInstanceOf|shouldBeTypeOf|shouldNotBeEmpty|shouldNotBeBlank|shouldExist|shouldNotBeZero"
    r"|shouldNotBeInstanceOf|shouldNotBeTypeOf|notNullValue|instanceOf|isA|any|hasClass"
)
LENGTHS = re.compile(r"hasSize\w*|hasLength|shouldHaveSize|shouldHaveLength|isSuccess")
NOT_YET = re.compile(
    r"not?[ _-]?(?:yet[ _-]?)?(?:been )?(?:implemented|impl\b)|unimplemented|to ?do\b|implement me|\bstub\b",
    re.IGNORECASE,
)
EXITS = re.compile(r"(?:System\.exit|exitProcess|(?:Runtime\.getRuntime\(\)|runtime)\.(?:halt|exit))\(.*\)", re.DOTALL)
