// Added to a copy of the page by the test `run`: measures what a reader would see and tells the page
// around it, as lines `NAME VALUE`.
(function () {
	var lines = [];
	function say(name, value) {
		lines.push(name + ' ' + value);
	}
	function size(name, element) {
		var r = element ? element.getBoundingClientRect() : { width: 0, height: 0 };
		say(name, Math.round(r.width) + 'x' + Math.round(r.height));
	}
	function all(selector) {
		return Array.prototype.slice.call(document.querySelectorAll(selector));
	}

	/* Contrast of a text with the first ground behind it that is not transparent (WCAG 2). */
	function numbers(colour) {
		return (colour.match(/[\d.]+/g) || []).map(Number);
	}
	function light(c) {
		var v = c.slice(0, 3).map(function (x) {
			x /= 255;
			return x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4);
		});
		return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
	}
	function ground(element) {
		for (; element; element = element.parentElement) {
			var c = numbers(getComputedStyle(element).backgroundColor);
			if (c.length === 3 || c[3] === 1)
				return c;
		}
		return [255, 255, 255];
	}
	function contrast(a, b) {
		var x = light(a), y = light(b);
		return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
	}
	var least = 21;
	all('h1,h2,h3,dt,dd,a,p,td,th,pre,code,summary,.tag,.quiet,.axis span').forEach(function (e) {
		least = Math.min(least, contrast(numbers(getComputedStyle(e).color), ground(e)));
	});
	all('svg.graph .state-text').forEach(function (text) {
		var rect = text.previousElementSibling;
		least = Math.min(least, contrast(numbers(getComputedStyle(text).fill),
			numbers(getComputedStyle(rect).fill)));
	});
	say('contrast', least.toFixed(2));

	say('window', window.innerWidth);
	say('overflow', Math.max(0, document.documentElement.scrollWidth - window.innerWidth));
	say('resources', performance.getEntriesByType('resource').length);
	say('paper', getComputedStyle(document.body).backgroundColor.replace(/ /g, ''));
	['graph', 'timeline', 'failures', 'output'].forEach(function (id) {
		size(id, document.getElementById(id));
	});
	size('svg', document.querySelector('svg.graph'));
	say('bars', all('.lane .span').filter(function (e) {
		return e.getBoundingClientRect().width >= 2;
	}).length);
	say('articles', all('.failure').length);
	/* Whatever is wider than its box can be focused, so that arrow keys move it. */
	say('unreachable', all('.scroll').filter(function (e) {
		return e.scrollWidth > e.clientWidth && e.tabIndex !== 0;
	}).length);
	/* Texts of the picture that stick out of their box. */
	say('sticking', all('svg.graph rect.box, svg.graph rect.state').filter(function (rect) {
		var text = rect.nextElementSibling;
		if (!text || text.tagName !== 'text')
			return false;
		var a = rect.getBoundingClientRect(), b = text.getBoundingClientRect();
		return b.left < a.left - 1 || b.right > a.right + 1;
	}).length);
	parent.postMessage(lines.join('\n'), '*');
})();
