// The lines "ok NAME" and "FAIL NAME: why" of the page's tests, and what they expect.
let failed = 0;

// Tests of `subject`. `after_failure` runs before a failure is printed.
export const tests = (subject, after_failure = async () => {}) =>
  async function test(name, body) {
    try {
      await body();
      console.log(`ok ${subject} ${name}`);
    } catch (error) {
      failed++;
      await after_failure();
      console.log(`FAIL ${subject} ${name}: ${String(error.message || error).split('\n').slice(0, 3).join(' ')}`);
    }
  };

export const expect = (fact, what) => {
  if (!fact) throw new Error(what);
};

export const finish = () => process.exit(failed ? 1 : 0);
