import { fold } from './tokenize.ts';

/**
 * Verbs and nouns of this field in the twenty most common other languages. A word with at least `MIN_PREFIX` letters also stands for longer
 * forms of it, so most words are written without their endings.
 */
const TRANSLATIONS: readonly string[] = [
  'create: crear crea cria criar créer crée erstell anlegen creare maak aanmaken utwórz utworz stwórz skapa oluştur tạo buat buatkan создат создай созда створи إنشاء أنشئ انشاء ایجاد बनाओ बनाएं बनाना তৈরি 创建 新建 建立 作成 만들 생성 สร้าง',
  'delete: eliminar elimina borrar borra excluir apagar supprimer supprime lösch elimina cancella verwijder usuń usun radera ta-bort sil silmek xóa hapus удали удалит видали حذف احذف हटाएं हटाओ মুছুন মুছে 删除 削除 삭제 ลบ',
  'update: actualizar actualiza atualizar atualize modifi aktualisier ändere ändern aggiorna bijwerken wijzig aktualizuj zmień uppdatera ändra güncelle cập-nhật perbarui ubah обнови измени онови зміни تحديث تعديل به‌روزرسانی अपडेट बदलें আপডেট 更新 修改 変更 업데이트 수정 แก้ไข อัปเดต',
  'search find: buscar busca encontrar procurar procura chercher cherche recherche rechercher trouve such suche finde cerca cercare trova zoek zoeken vind szukaj wyszukaj znajdź sök hitta ara bul tìm cari найди найти поиск искать знайти знайди пошук ابحث بحث ابحث جستجو खोजें खोज খুঁজুন খোঁজ 搜索 查找 搜寻 検索 探す 検索 검색 찾기 찾아 ค้นหา',
  'list show: listar lista mostrar muestra mostra liste lister afficher affiche zeige anzeigen auflisten elenca elenco mostra toon lijst pokaż wyświetl lista visa listele göster liệt-kê hiển-thị daftar tampilkan покажи показать список показати عرض اعرض قائمة نمایش لیست दिखाएं दिखाओ सूची দেখান তালিকা 列出 显示 列表 一覧 表示 목록 보여 รายการ แสดง',
  'get: obtener obter obtenir hole abrufen ottieni ophalen haal pobierz hämta al getir lấy ambil получи получить отримати احصل دریافت प्राप्त পান 获取 取得 가져오 ดึง รับ',
  'read: leer lire lesen leggi leggere lees lezen czytaj odczytaj läs oku đọc baca прочитай читать прочитать прочитати читати اقرأ قراءة خواندن पढ़ें पढ़ो পড়ুন 读取 阅读 読む 読み 읽기 읽어 อ่าน',
  'write: escribir escribe escrever écrire écris schreib scrivi scrivere schrijf napisz zapisz skriv yaz viết tulis напиши записать записати اكتب كتابة نوشتن लिखें লিখুন 写入 编写 書く 書き込 작성 쓰기 เขียน',
  'send: enviar envia envía envoyer envoie send senden sende schick invia inviare stuur verzend wyślij wyslij skicka gönder gửi kirim отправ надіслати надішли أرسل إرسال ارسال भेजें भेजो পাঠান 发送 送信 送る 보내 전송 ส่ง',
  'open: abrir ouvrir öffne aprire apri openen otwórz öppna aç mở buka открой открыть відкрити افتح باز खोलें খুলুন 打开 開く 열기 เปิด',
  'close: cerrar fechar fermer schließ chiudi sluiten zamknij stäng kapat đóng tutup закрой закрыть закрити أغلق بستن 关闭 閉じる 닫기 ปิด',
  'move: mover déplacer verschieb sposta verplaats przenieś flytta taşı pindahkan перемести перенести نقل 移动 移動 이동 ย้าย',
  'copy: copiar copia copier kopier kopieren kopieer kopiuj kopiera kopyala sao-chép salin скопируй копировать копіювати نسخ کپی कॉपी 复制 コピー 복사 คัดลอก',
  'upload: subir carregar téléverser hochladen caricare uploaden prześlij ladda-upp yükle tải-lên unggah загрузи завантажити رفع आपलोड 上传 アップロード 업로드 อัปโหลด',
  'download: descargar descarga baixar télécharger herunterlad scarica scaricare downloaden pobierz ladda-ner indir tải-xuống unduh скачай скачать تحميل تنزيل دانلود डाउनलोड ডাউনলোড 下载 ダウンロード 다운로드 ดาวน์โหลด',
  'run execute: ejecutar ejecuta executar exécuter exécute ausführ esegui eseguire uitvoeren uruchom kör çalıştır chạy jalankan запусти выполни запустити تشغيل نفذ اجرا चलाएं চালান 运行 执行 実行 실행 รัน',
  'add: añadir agregar añade adicionar ajouter ajoute hinzufüg aggiungi toevoegen voeg dodaj lägg-till ekle thêm tambah добав додати додай إضافة أضف افزودن जोड़ें যোগ 添加 增加 追加 추가 เพิ่ม',
  'translate: traducir traduce traduzir traduza traduire traduis traduction übersetz traduci tradurre traduzione vertaal vertalen przetłumacz översätt çevir dịch terjemah перевед перевести переклад ترجمة ترجم ترجمه अनुवाद অনুবাদ 翻译 翻訳 번역 แปล',
  'summarize: resumir resumen resumo résumer résumé zusammenfass riassum samenvat podsumuj sammanfatta özetle tóm-tắt ringkas резюм подсумуй تلخيص خلاصه सारांश সারাংশ 总结 摘要 要約 요약 สรุป',
  'calculate: calcular calcula calculer berechn calcola berekenen oblicz beräkna hesapla hitung вычисли рассчита обчисли احسب محاسبه गणना হিসাব 计算 計算 계산 คำนวณ',
  'file: archivo fichero arquivo ficheiro fichier datei bestand bestanden plik dosya tệp tập-tin berkas файл ملف ملفات فایل फ़ाइल फाइल ফাইল 文件 ファイル 파일 ไฟล์',
  'directory folder: carpeta directorio pasta diretório dossier répertoire ordner verzeichnis cartella katalog folder mapp klasör thư-mục папк папка теку مجلد پوشه फ़ोल्डर ফোল্ডার 文件夹 目录 フォルダ 폴더 โฟลเดอร์',
  'message: mensaje mensagem nachricht messaggio bericht berichten wiadomość meddelande mesaj tin-nhắn pesan сообщени повідомлен رسالة رسائل پیام संदेश বার্তা 消息 信息 メッセージ 메시지 ข้อความ',
  'email: correo correos correio courriel e-mail-nachricht posta surat surel письмо письма почт лист пошт بريد البريد ایمیل ईमेल ইমেইল ইমেল 邮件 电子邮件 メール 이메일 메일 อีเมล',
  'weather forecast: clima pronóstico météo prévision wetter wettervorhersag meteo previsioni weer weersverwachting pogoda pogod prognoz väder hava-durumu hava thời-tiết cuaca погод прогноз طقس الطقس آب-و-هوا هوا मौसम আবহাওয়া 天气 天気 날씨 อากาศ',
  'weather time: tiempo tempo temps',
  'issue ticket: incidencia incidente problema problème anomalie tâche-bug fehlermeldung problem segnalazione probleem zgłoszeni ärende sorun sự-cố masalah проблем заявк مشكلة مسئله समस्या সমস্যা 问题 工单 課題 イシュー 이슈 ปัญหา',
  'task: tarea tarefa tâche aufgabe attività compito taak zadani uppgift görev nhiệm-vụ tugas задач завданн مهمة وظیفه कार्य কাজ 任务 タスク 작업 งาน',
  'project: proyecto projeto projet projekt progetto progetti proje dự-án proyek проект проєкт مشروع پروژه प्रोजेक्ट परियोजना প্রকল্প 项目 プロジェクト 프로젝트 โครงการ',
  'repository: repositorio repositório dépôt repositori archivio depo kho репозитори مستودع مخزن रिपॉजिटरी 仓库 リポジトリ 저장소',
  'branch: rama ramas ramo ramos branche zweig ramo gałąź gren dal nhánh cabang ветк гілк فرع شاخه शाखा 分支 ブランチ 브랜치',
  'pull merge request: fusion fusionar fusión слияни 合并 拉取请求 プルリクエスト マージ 풀리퀘스트',
  'user: usuario usuário utilisateur benutzer nutzer utente utenti gebruiker użytkownik användare kullanıcı người-dùng pengguna пользовател користувач مستخدم کاربر उपयोगकर्ता ব্যবহারকারী 用户 ユーザー 사용자 ผู้ใช้',
  'database: base-de-datos banco-de-dados datenbank databank baza-danych databas veritabanı cơ-sở-dữ-liệu basis-data базаданных قاعدة-بيانات قاعدة پایگاه डेटाबेस ডাটাবেস 数据库 データベース 데이터베이스 ฐานข้อมูล',
  'table: tabla tabela tableau tabelle tabella tabel tabell tablo bảng таблиц جدول तालिका টেবিল 表格 テーブル 테이블 ตาราง',
  'text: texto texte testo tekst metin văn-bản teks текст نص متن पाठ টেক্সট 文本 テキスト 텍스트',
  'image: imagen imagem bild afbeelding obraz immagine resim görüntü hình-ảnh gambar изображени картинк зображенн صورة تصویر छवि चित्र ছবি 图片 图像 画像 이미지 รูปภาพ',
  'screenshot: captura capture-écran capture bildschirmfoto schermata schermafbeelding zrzut skärmbild ekran-görüntüsü ảnh-chụp-màn-hình tangkapan скриншот скріншот لقطة स्क्रीनशॉट স্ক্রিনশট 截图 截屏 スクリーンショット 스크린샷 캡처 ภาพหน้าจอ',
  'page web: página pagina seite webseite strona sida sayfa trang halaman страниц сторінк صفحة صفحه पृष्ठ পৃষ্ঠা 网页 页面 ページ 페이지 หน้าเว็บ',
  'channel: canal canale kanal kanaal kanał kênh канал قناة کانال चैनल চ্যানেল 频道 チャンネル 채널 ช่อง',
  'comment: comentario comentário commentaire kommentar commento reactie komentarz yorum bình-luận komentar комментари коментар تعليق نظر टिप्पणी মন্তব্য 评论 コメント 댓글 ความคิดเห็น',
  'calendar event: calendario calendário calendrier kalender agenda takvim lịch календар تقويم تقویم कैलेंडर ক্যালেন্ডার 日历 日程 カレンダー 予定 캘린더 일정 ปฏิทิน',
  'meeting event: reunión reunião réunion termin besprechung riunione vergadering spotkani möte toplantı cuộc-họp rapat встреч зустріч اجتماع جلسه बैठक সভা 会议 会議 회의 ประชุม',
  'directions route: ruta rota itinéraire wegbeschreibung indicazioni percorso routebeschrijving trasa vägbeskrivning yol-tarifi chỉ-đường маршрут اتجاهات مسیر मार्ग রুট 路线 导航 経路 ルート 길찾기 경로 เส้นทาง',
  'map: mapa carte karte mappa kaart karta harita bản-đồ peta карт мапа خريطة نقشه नक्शा মানচিত্র 地图 地図 지도 แผนที่',
  'address: dirección endereço adresse indirizzo adres adress địa-chỉ alamat адрес عنوان نشانی पता ঠিকানা 地址 住所 주소 ที่อยู่',
  'document: documento dokument belge tài-liệu dokumen документ مستند وثيقة سند दस्तावेज़ নথি 文档 文書 ドキュメント 문서 เอกสาร',
  'news: noticias notícias nouvelles nachrichten notizie nieuws wiadomości nyheter haber tin-tức berita новост новин أخبار اخبار समाचार খবর 新闻 ニュース 뉴스 ข่าว',
  'hotel accommodation: alojamiento hospedagem hébergement unterkunft alloggio verblijf nocleg otel khách-sạn отел готел فندق هتل होटल হোটেল 酒店 ホテル 호텔 โรงแรม',
  'flight: vuelo vuelos voo vol flug flüge volo voli vlucht lot flyg uçuş chuyến-bay penerbangan рейс авиабилет رحلة پرواز उड़ान ফ্লাইট 航班 フライト 항공편 เที่ยวบิน',
  'restaurant: restaurante ristorante restauracj restoran nhà-hàng ресторан مطعم رستوران रेस्तरां রেস্তোরাঁ 餐厅 饭店 レストラン 식당 맛집 ร้านอาหาร',
  'price: precio preço prix preis prezzo prijs cena fiyat giá harga цен ціна سعر قیمت कीमत দাম 价格 価格 가격 ราคา',
  'payment: pago pagamento paiement zahlung betaling płatność betalning ödeme thanh-toán pembayaran платеж платіж دفع پرداخت भुगतान পেমেন্ট 支付 付款 支払 결제 ชำระเงิน',
  'invoice: factura fatura facture rechnung fattura factuur faktur fatura hóa-đơn faktur счет рахунок فاتورة فاکتور चालान 发票 請求書 송장 ใบแจ้งหนี้',
  'customer: cliente kunde kunden klant klient kund müşteri khách-hàng pelanggan клиент клієнт عميل مشتری ग्राहक গ্রাহক 客户 顧客 고객 ลูกค้า',
  'order: pedido commande bestellung ordine bestelling zamówieni beställning sipariş đơn-hàng pesanan заказ замовленн طلب سفارش ऑर्डर 订单 注文 주문 คำสั่งซื้อ',
  'log: registro journal protokoll registo dziennik günlük nhật-ký catatan журнал سجل لاگ 日志 ログ 로그 บันทึก',
  'error: erreur fehler errore fout błąd fel hata lỗi kesalahan ошибк помилк خطأ خطا त्रुटि ত্রুটি 错误 エラー 오류 ข้อผิดพลาด',
  'server: servidor serveur sunucu máy-chủ peladen сервер خادم سرور सर्वर সার্ভার 服务器 サーバー 서버 เซิร์ฟเวอร์',
  'chart: gráfico gráfica graphique diagramm grafico grafiek wykres diagram grafik biểu-đồ график диаграмм графік مخطط نمودار चार्ट 图表 グラフ 차트 แผนภูมิ',
  'video: vídeo вид видео відео فيديو ویدیو वीडियो ভিডিও 视频 動画 비디오 동영상 วิดีโอ',
  'new: nuevo nueva novo nova nouveau nouvelle neue neuen nuovo nuova nieuw nieuwe nowy nowe nytt nya yeni mới baru новый новую новий جديد جدید नया নতুন 新的 新しい',
];

/** Frequent words without meaning for a search. They are removed from a request once another word of it was translated. */
const FILLERS = new Set(
  (
    'el la los las un una unos de del en y o con para por que mi me al se o os as um uma do da dos das no na em com meu minha le les des du et ou dans sur ' +
    'pour avec mon ma une au aux der die das den dem ein eine einen einer im am auf mit und oder für von zu mir bitte il lo gli uno di dei della nel con ' +
    'per che het een van op naar voor mijn en aan w na z do dla i o att på till för med och i en ett ve bir için ile bu các của và cho mới trong di ke dan ' +
    'yang untuk ini itu в на с и для по мне мой из до у та на з для мені في من على إلى و از به در را برای की का के में को ए है कर करें করুন এর'
  )
    .split(' ')
    .map(fold),
);
/** Frequent English words: a request in Latin letters with one of them is not translated. */
const ENGLISH = /\b(?:the|of|with|and|my|please|for|you|what|how|to|from|this|that|are|is)\b/i;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const NOT_LATIN = /[\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}]/u;
const WORD = /[\p{L}\p{M}\u200C]+/gu;
/** The article and the particles that Arabic writes together with the word. */
const ARABIC_PREFIX = /^(?:وال|بال|لل|ال|و|ب|ل)(?=.{3})/u;
const MIN_PREFIX = 4;
const MAX_ENDING = 5;

export interface Translator {
  /**
   * Replaces the foreign words of a request by English ones; returns the request unchanged if it has none. `isKnown` tells whether tools
   * use a word; such a word is not taken as a sign that the request is foreign.
   */
  translate(text: string, isKnown: (word: string) => boolean): string;
  /** Returns the English words for a word in another script; none for a word in Latin letters. */
  meanings(word: string): readonly string[];
}

export function createTranslator(): Translator {
  const words = new Map<string, string>();
  const phrases = new Map<string, string>();
  for (const line of TRANSLATIONS) {
    const [english = '', foreign = ''] = line.split(': ');
    for (const word of foreign.split(' ')) {
      const isPhrase = word.includes('-') || UNSPACED.test(word);
      (isPhrase ? phrases : words).set(fold(word.replaceAll('-', ' ')), english);
    }
  }
  return {
    translate: (text, isKnown) => translate(text, isKnown, { words, phrases }),
    meanings(word) {
      if (!isOtherScript(word)) return [];
      return (phrases.get(word) ?? meaningOf(word, words))?.split(' ') ?? [];
    },
  };
}

function isOtherScript(text: string): boolean {
  return UNSPACED.test(text) || NOT_LATIN.test(text);
}

interface Dictionary {
  readonly words: ReadonlyMap<string, string>;
  /** Words of several parts, and words of scripts without spaces, which are found anywhere in a text. */
  readonly phrases: ReadonlyMap<string, string>;
}

function translate(text: string, isKnown: (word: string) => boolean, { words, phrases }: Dictionary): string {
  if (!isOtherScript(text) && ENGLISH.test(text)) return text;
  const folded = fold(text.normalize('NFKC'));
  const english: string[] = [];
  let isForeign = isOtherScript(text);
  for (const [phrase, meaning] of phrases) {
    const isUnspaced = UNSPACED.test(phrase);
    if (!(isUnspaced ? folded.includes(phrase) : ` ${folded} `.includes(` ${phrase} `))) continue;
    isForeign = true;
    // A phrase that tools use themselves is not translated here, so that those tools rank first; the search adds its `meanings` as synonyms.
    if (!isUnspaced || !pairsOf(phrase).every(isKnown)) english.push(meaning);
  }
  const kept: string[] = [];
  for (const word of folded.match(WORD) ?? []) {
    const isUsed = isKnown(word);
    const meaning = isUsed && isOtherScript(word) ? undefined : meaningOf(word, words);
    if (meaning !== undefined) english.push(meaning);
    if (meaning !== undefined && !isUsed) isForeign = true;
    else if (!FILLERS.has(word)) kept.push(word);
  }
  return isForeign && english.length > 0 ? [...kept, ...english].join(' ') : text;
}

/** Returns the overlapping pairs of characters that the index has instead of words. */
function pairsOf(phrase: string): readonly string[] {
  const characters = Array.from(phrase);
  return characters.length < 2
    ? [phrase]
    : characters.slice(1).map((one, at) => `${characters[at] ?? ''}${one}`);
}

/** Returns the meaning of a word or of its beginning. */
function meaningOf(word: string, words: ReadonlyMap<string, string>): string | undefined {
  for (const form of new Set([word, word.replace(ARABIC_PREFIX, '')])) {
    for (let length = form.length; length >= Math.max(MIN_PREFIX, form.length - MAX_ENDING); length -= 1) {
      const meaning = words.get(form.slice(0, length));
      if (meaning !== undefined) return meaning;
    }
    const exact = words.get(form);
    if (exact !== undefined) return exact;
  }
  return undefined;
}
