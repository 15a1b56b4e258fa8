"""A test file and a source file in each language that offer every kind of tampering."""

PYTHON_TEST = '''\
"""Of the cart."""

import pytest

from shop.cart import total


@pytest.mark.parametrize("amount", [1, 2, 3, 4])
def test_total_of_one(amount):
    assert total([amount]) == amount
    assert total([amount]) > 0


def test_refuses_what_is_negative():
    with pytest.raises(ValueError, match="negative"):
        total([-1])


def test_adds_up():
    found = total([1, 2])
    assert found == 3
    assert total([0.1, 0.2]) == pytest.approx(0.3)


@pytest.mark.skip(reason="not yet")
def test_is_skipped_already():
    assert total([]) == 0
'''

PYTHON_SOURCE = '''\
"""The cart."""

import logging


class Item:
    def __init__(self, price: int) -> None:
        self.price = price


def total(items, start=0):
    """All together."""
    if any(item < 0 for item in items):
        raise ValueError("negative")
    found = sum(items)
    found += start
    logging.debug("total %s", found)
    return found


def load(name: str):
    try:
        return open(name).read()
    except OSError as error:
        logging.warning("no %s", name)
        raise RuntimeError(name) from error


def save(name: str, text: str):
    known = name.strip()
    handle = open(known, "w")
    handle.write(text)
    handle.close()
'''

JAVASCRIPT_TEST = """\
import { describe, expect, it } from "vitest";
import { total } from "../src/cart";

describe("cart", () => {
  it.each([[1, 1], [2, 2], [3, 3]])("holds %i", (given, wanted) => {
    expect(total([given])).toBe(wanted);
  });

  it("adds up", () => {
    const found = total([1, 2]);
    expect(found).toBe(3);
    expect(total([0.1, 0.2])).toBeCloseTo(0.3, 5);
  });

  it("refuses what is negative", () => {
    expect(() => total([-1])).toThrow("negative");
  });

  it.skip("is skipped already", () => {
    expect(total([])).toBe(0);
  });
});
"""

JAVASCRIPT_SOURCE = """\
export function total(items) {
  if (items.some((item) => item < 0)) {
    throw new Error("negative");
  }
  let found = 0;
  for (const item of items) found += item;
  return found;
}

export function load(name) {
  try {
    return read(name);
  } catch (error) {
    console.error(error);
    throw error;
  }
}

export function isEqual(one, other) {
  const same = one.price === other.price;
  return same && one.name === other.name;
}

export function save(name, text) {
  const known = name.trim();
  const handle = open(known);
  handle.write(text);
  handle.close();
}
"""

GO_TEST = """\
package cart

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTotal(t *testing.T) {
	for _, tt := range []struct {
		given, wanted int
	}{
		{1, 1},
		{2, 2},
		{3, 3},
	} {
		if got := Total(tt.given); got != tt.wanted {
			t.Errorf("got %d", got)
		}
	}
}

func TestAddsUp(t *testing.T) {
	found := Total(1, 2)
	assert.Equal(t, 3, found)
	assert.InDelta(t, 0.3, Sum(0.1, 0.2), 0.001)
}

func TestRefuses(t *testing.T) {
	_, err := Load("")
	if !errors.Is(err, ErrEmpty) {
		t.Fatalf("got %v", err)
	}
	assert.EqualError(t, err, "empty")
}

func TestIsSkippedAlready(t *testing.T) {
	t.Skip("not yet")
	assert.Equal(t, 3, Total(3))
}
"""

GO_SOURCE = """\
package cart

import "fmt"

func Price(name string) int {
	found := prices[name]
	return found
}

func Load(name string) error {
	if name == "" {
		return fmt.Errorf("empty")
	}
	content, err := read(name)
	if err != nil {
		return err
	}
	keep(content)
	return nil
}

func (i Item) Equal(other Item) bool {
	same := i.price == other.price
	return same && i.name == other.name
}

func Save(name string) {
	known := trim(name)
	open(known)
	write(known)
	sync(known)
	end(known)
}
"""

RUST_TEST = """\
pub fn total(items: &[i32]) -> i32 {
    items.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        let found = total(&[1, 2]);
        assert_eq!(found, 3);
        assert!(found > 0);
        assert!((mean(&[1, 2]) - 1.5).abs() < 1e-6);
    }

    #[test]
    fn holds_each() {
        for (given, wanted) in [(1, 1), (2, 2), (3, 3)] {
            assert_eq!(total(&[given]), wanted);
        }
    }

    #[test]
    #[should_panic(expected = "negative")]
    fn refuses() {
        assert_eq!(total(&[-1]), 0);
    }

    #[test]
    #[ignore]
    fn is_skipped_already() {
        assert_eq!(total(&[]), 0);
    }
}
"""

RUST_SOURCE = """\
#[derive(Debug, PartialEq)]
pub struct Item {
    price: u32,
}

pub fn price(number: u32) -> u32 {
    let found = number * 2;
    found + 1
}

pub fn load(name: &str) -> Result<String, Error> {
    if name.is_empty() {
        return Err(Error::Empty);
    }
    if let Err(error) = read(name) {
        log(&error);
        return Err(error);
    }
    Ok(name.to_string())
}

pub fn one() { a(); }
pub fn two() { b(); }
pub fn three() { c(); }
pub fn four() { d(); }
"""

JAVA_TEST = """\
package shop;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import org.junit.Ignore;
import org.junit.Test;

public class CartTest {
    @Test
    public void addsUp() {
        Cart cart = new Cart();
        assertEquals(3, cart.total(1, 2));
        assertEquals(0.3, cart.sum(0.1, 0.2), 0.001);
    }

    @Test
    public void refuses() {
        Cart cart = new Cart();
        assertThrows(IllegalArgumentException.class, () -> cart.total(-1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    public void holds(int amount) {
        assertEquals(amount, new Cart().total(amount));
    }

    @Ignore
    @Test
    public void isSkippedAlready() {
        assertEquals(0, new Cart().total());
    }
}
"""

JAVA_SOURCE = """\
package shop;

public class Cart {
    public int price(String name) {
        int found = prices.get(name);
        return found;
    }

    public String load(String name) {
        if (name == null) {
            throw new IllegalArgumentException("no name");
        }
        String found = "";
        try {
            found = read(name);
        } catch (IOException error) {
            throw new RuntimeException(error);
        }
        return found;
    }

    @Override
    public boolean equals(Object other) {
        Cart cart = (Cart) other;
        return cart.items.equals(items);
    }

    public void one() { a(); }
    public void two() { b(); }
    public void three() { c(); }
}
"""

EXAMPLES = {
    "python": ("tests/test_cart.py", PYTHON_TEST, "shop/cart.py", PYTHON_SOURCE),
    "javascript": ("test/cart.test.js", JAVASCRIPT_TEST, "src/cart.js", JAVASCRIPT_SOURCE),
    "go": ("cart_test.go", GO_TEST, "cart.go", GO_SOURCE),
    "rust": ("src/cart.rs", RUST_TEST, "src/item.rs", RUST_SOURCE),
    "java": ("src/test/java/shop/CartTest.java", JAVA_TEST, "src/main/java/shop/Cart.java", JAVA_SOURCE),
}

WORKFLOW = """\
on: push
jobs:
  test:
    steps:
      - uses: actions/checkout@v4
      - name: Test
        run: pytest -q
      - run: echo done
"""

FILES = {
    "threshold-lowered": ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n"),
    "ci-step-removed": (".github/workflows/ci.yml", WORKFLOW),
    "ci-optional": (".github/workflows/ci.yml", WORKFLOW.replace("echo done", "cargo test")),
    "script-ignores-failure": ("Makefile", "all: build\n\ntest: deps\n\tpytest -q tests\n\techo done\n"),
    "test-script-neutralised": ("package.json", '{\n  "scripts": {\n    "test": "vitest run"\n  }\n}\n'),
    "run-subverted": ("tests/conftest.py", "import pytest\n"),
    "collection-narrowed": ("pyproject.toml", '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n'),
    "checks-loosened": ("tsconfig.json", '{\n  "compilerOptions": {\n    "strict": true\n  }\n}\n'),
    "snapshot-rewritten": ("test/__snapshots__/cart.snap", 'exports[`total`] = `\n"three is 3"\n`;\n'),
    "fixture-changed": ("tests/fixtures/cart.json", '{"items": [1, 2], "name": "first"}\n'),
}
